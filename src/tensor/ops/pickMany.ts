import { TensorError } from "../error.ts";
import { constant, node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { sameShape, show } from "../shape.ts";
import { lastOf } from "../wgsl/lowering.ts";
import { addAt } from "./addAt.ts";

const operation: Operation<null> = {
  name: "pickMany",
  gradient: ({ inputs: [x, ids] }, g) => [addAt(constant(0, x!.shape), ids!, g), undefined],
  onnx: (_, inputs, emit) => emit.node("GatherElements", inputs, { axis: { int: -1 } }),
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const row = `(${at} / ${lastOf(y.shape)}u)`;
      return code.read(
        0,
        code.name("u32", `(${row} * ${lastOf(y.inputs[0]!.shape)}u + u32(${code.read(1, at)}))`),
      );
    },
  },
  reference: (y, [x, ids]) => {
    const n = y.inputs[0]!.shape.at(-1)!;
    const count = y.shape.at(-1)!;
    return ids!.map((id, i) => x![Math.floor(i / count) * n + id]!);
  },
};

/**
 * Take several elements along the last axis.
 * @param x shape [..., V]. @param ids int32 in [0, V), shape [..., K]. @returns shape [..., K].
 */
export function pickMany(x: Tensor, ids: Tensor): Tensor {
  requireDType("pickMany", "ids", ids, "int32");
  if (x.shape.length < 1 || !sameShape(ids.shape.slice(0, -1), x.shape.slice(0, -1))) {
    throw new TensorError("pickMany", {
      got: `ids of shape ${show(ids.shape)} for a tensor of shape ${show(x.shape)}`,
      expected: "a list of ids for each position before the last axis",
      fix: "Reshape ids to the tensor's shape up to its last axis.",
    });
  }
  return node(operation, [x, ids], null, ids.shape, x.dtype);
}
