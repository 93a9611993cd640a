import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { sameShape, show, sizeOf } from "../shape.ts";
import { lastOf } from "../wgsl/lowering.ts";
import { pick } from "./pick.ts";

const operation: Operation<null> = {
  name: "place",
  gradient: ({ inputs: [ids] }, g) => [undefined, pick(g, ids!)],
  onnx: (y, inputs, emit) => {
    const [ids, values] = inputs.map((x) => emit.node("Reshape", [x, emit.list(y.shape.with(-1, 1))]));
    return emit.node("ScatterElements", [emit.filled("float32", y.shape, 0), ids!, values!], {
      axis: { int: -1 },
    });
  },
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const row = code.name("u32", `(${at} / ${lastOf(y.shape)}u)`);
      return `select(0.0, ${code.read(1, row)}, u32(${code.read(0, row)}) == ${at} % ${lastOf(y.shape)}u)`;
    },
  },
  reference: (y, [ids, values]) => {
    const n = y.shape.at(-1)!;
    const result = new Float64Array(sizeOf(y.shape));
    ids!.forEach((id, i) => {
      result[i * n + id] = values![i]!;
    });
    return result;
  },
};

/**
 * Zeros with one value in each row: the gradient of pick.
 * @param ids int32 in [0, count), shape [...]. @param values shape [...]. @returns shape [..., count].
 */
export function place(ids: Tensor, values: Tensor, count: number): Tensor {
  requireDType("place", "ids", ids, "int32");
  requireDType("place", "values", values, "float32");
  if (!sameShape(ids.shape, values.shape)) {
    throw new TensorError("place", {
      got: `ids of shape ${show(ids.shape)} and values of shape ${show(values.shape)}`,
      expected: "equal shapes",
      fix: "Give one value for each id.",
    });
  }
  return node(operation, [ids, values], null, [...ids.shape, count]);
}
