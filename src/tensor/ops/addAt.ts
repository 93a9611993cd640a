import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { sameShape, show } from "../shape.ts";
import { lastOf } from "../wgsl/lowering.ts";
import { pickMany } from "./pickMany.ts";

const operation: Operation<null> = {
  name: "addAt",
  gradient: ({ inputs: [, ids] }, g) => [g, undefined, pickMany(g, ids!)],
  onnx: (_, inputs, emit) =>
    emit.node("ScatterElements", inputs, { axis: { int: -1 }, reduction: { text: "add" } }),
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const n = lastOf(y.shape);
      const count = lastOf(y.inputs[1]!.shape);
      const row = code.name("u32", `(${at} / ${n}u)`);
      const column = code.name("u32", `(${at} % ${n}u)`);
      const added = code.total(count, (k) => {
        const i = code.name("u32", `(${row} * ${count}u + ${k})`);
        return `select(0.0, ${code.read(2, i)}, u32(${code.read(1, i)}) == ${column})`;
      });
      return `(${code.read(0, at)} + ${added})`;
    },
  },
  reference: (y, [x, ids, values]) => {
    const n = y.shape.at(-1)!;
    const count = y.inputs[1]!.shape.at(-1)!;
    const result = x!.slice();
    ids!.forEach((id, i) => {
      result[Math.floor(i / count) * n + id]! += values![i]!;
    });
    return result;
  },
};

/**
 * x with values added at some indices of its last axis; values at equal indices add up. The gradient of pickMany.
 * @param x shape [..., V]. @param ids int32 in [0, V), shape [..., K]. @param values shape [..., K].
 */
export function addAt(x: Tensor, ids: Tensor, values: Tensor): Tensor {
  requireDType("addAt", "ids", ids, "int32");
  requireDType("addAt", "x", x, "float32");
  requireDType("addAt", "values", values, "float32");
  if (!sameShape(ids.shape, values.shape) || !sameShape(ids.shape.slice(0, -1), x.shape.slice(0, -1))) {
    throw new TensorError("addAt", {
      got: `ids ${show(ids.shape)} and values ${show(values.shape)} for a tensor of shape ${show(x.shape)}`,
      expected: "ids and values of the same shape, with the tensor's leading axes",
      fix: "Give each row of the tensor its own list of ids.",
    });
  }
  return node(operation, [x, ids, values], null, x.shape);
}
