import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { exp } from "./exp.ts";
import { mul } from "./mul.ts";
import { sub } from "./sub.ts";

const operation: Operation<null> = {
  name: "logSumExp",
  gradient: (y, g) => [mul(g, exp(sub(y.inputs[0]!, y)))],
  onnx: (_, inputs, emit) =>
    emit.node("ReduceLogSumExp", [...inputs, emit.list([-1])], { keepdims: { int: 1 } }),
  wgsl: { kind: "reduce", by: "logSumExp", axes: (y) => [y.shape.length - 1] },
  reference: (y, [x]) => {
    const n = y.inputs[0]!.shape.at(-1)!;
    return Float64Array.from({ length: x!.length / n }, (_, i) => {
      const row = x!.subarray(i * n, (i + 1) * n);
      const top = row.reduce((a, b) => Math.max(a, b));
      return top + Math.log(row.reduce((total, u) => total + Math.exp(u - top), 0));
    });
  },
};

/** `log Σ e^x` over the last axis, which stays with length 1. @param x shape [..., V]. @returns shape [..., 1]. */
export function logSumExp(x: Tensor): Tensor {
  requireDType("logSumExp", "the argument", x, "float32");
  return node(operation, [x], null, x.shape.with(-1, 1));
}
