import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { exp } from "./exp.ts";
import { logSumExp } from "./logSumExp.ts";
import { mul } from "./mul.ts";
import { sub } from "./sub.ts";
import { sum } from "./sum.ts";

const operation: Operation<null> = {
  name: "softmax",
  gradient: (y, g) => [mul(y, sub(g, sum(mul(g, y), [-1], { keep: true })))],
  onnx: (_, inputs, emit) => emit.node("Softmax", inputs, { axis: { int: -1 } }),
  wgsl: {
    kind: "rewrite",
    as: ({ inputs: [x], shape }) =>
      (shape.at(-1) ?? 1) <= longestShort ? node(short, [x!], null, shape) : exp(sub(x!, logSumExp(x!))),
  },
  reference: (y, [x]) => {
    const n = y.shape.at(-1) ?? 1;
    return x!.map((v, i) => {
      const row = x!.subarray(i - (i % n), i - (i % n) + n);
      const top = row.reduce((a, b) => Math.max(a, b));
      return Math.exp(v - top) / row.reduce((total, u) => total + Math.exp(u - top), 0);
    });
  },
};

/** Numbers of a row that the memory of a WGSL workgroup holds. */
const longestShort = 2048;

/** Softmax of rows that one workgroup holds. Made by the WGSL planner only. */
const short: Operation<null> = {
  ...operation,
  name: "softmaxShort",
  wgsl: { kind: "softmax" },
};

/** `e^x / Σ e^x` over the last axis. */
export function softmax(x: Tensor): Tensor {
  requireDType("softmax", "the argument", x, "float32");
  return node(operation, [x], null, x.shape);
}
