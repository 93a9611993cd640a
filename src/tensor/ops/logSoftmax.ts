import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { exp } from "./exp.ts";
import { logSumExp } from "./logSumExp.ts";
import { mul } from "./mul.ts";
import { sub } from "./sub.ts";
import { sum } from "./sum.ts";

const operation: Operation<null> = {
  name: "logSoftmax",
  gradient: (y, g) => [sub(g, mul(exp(y), sum(g, [-1], { keep: true })))],
  onnx: (_, inputs, emit) => emit.node("LogSoftmax", inputs, { axis: { int: -1 } }),
  wgsl: { kind: "rewrite", as: ({ inputs: [x] }) => sub(x!, logSumExp(x!)) },
  reference: (y, [x]) => {
    const n = y.shape.at(-1) ?? 1;
    return x!.map((v, i) => {
      const row = x!.subarray(i - (i % n), i - (i % n) + n);
      const top = row.reduce((a, b) => Math.max(a, b));
      return v - top - Math.log(row.reduce((total, u) => total + Math.exp(u - top), 0));
    });
  },
};

/** `x - log Σ e^x` over the last axis. */
export function logSoftmax(x: Tensor): Tensor {
  requireDType("logSoftmax", "the argument", x, "float32");
  return node(operation, [x], null, x.shape);
}
