import { TensorError } from "../error.ts";
import { constant, node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { show } from "../shape.ts";
import { concat } from "./concat.ts";
import { gatherRows, rowsById } from "./gatherRows.ts";

const operation: Operation<null> = {
  name: "selectRows",
  gradient: ({ inputs: [x, , back] }, g) => [
    gatherRows(concat([g, constant(0, [1, ...x!.shape.slice(1)])], 0), back!),
    undefined,
    undefined,
  ],
  onnx: (_, [x, ids], emit) => emit.node("Gather", [x!, ids!], { axis: { int: 0 } }),
  wgsl: rowsById,
  reference: (y, [x, ids]) => {
    const width = x!.length / y.inputs[0]!.shape[0]!;
    const result = new Float64Array(ids!.length * width);
    ids!.forEach((id, i) => {
      result.set(x!.subarray(id * width, (id + 1) * width), i * width);
    });
    return result;
  },
};

/**
 * Select distinct rows of x, given the inverse index: the gradient copies rows instead of accumulating them.
 * @param x shape [N, ...D]. @param ids int32 in [0, N), shape [A].
 * @param back int32, shape [N]: for each row its index in ids, or A if it is not selected. If several ids name the same
 *   row, its gradient comes from the one named here only.
 * @returns shape [A, ...D].
 */
export function selectRows(x: Tensor, ids: Tensor, back: Tensor): Tensor {
  requireDType("selectRows", "the rows", x, "float32");
  requireDType("selectRows", "ids", ids, "int32");
  requireDType("selectRows", "back", back, "int32");
  if (ids.shape.length !== 1 || back.shape.length !== 1 || back.shape[0] !== x.shape[0]) {
    throw new TensorError("selectRows", {
      got: `ids ${show(ids.shape)} and back ${show(back.shape)} for rows of shape ${show(x.shape)}`,
      expected: "a list of ids, and one index for each row",
      fix: "Give back one number per row.",
    });
  }
  return node(operation, [x, ids, back], null, [ids.shape[0]!, ...x.shape.slice(1)]);
}
