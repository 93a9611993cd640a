import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { sameShape, show } from "../shape.ts";
import { add } from "./add.ts";
import { mul } from "./mul.ts";
import { sigmoid } from "./sigmoid.ts";
import { sub } from "./sub.ts";

const operation: Operation<null> = {
  name: "swiglu",
  // with s = sigmoid(gate) and a = g s: dup = a gate, dgate = up (a + dup (1 − s)); six passes over memory
  gradient: ({ inputs: [gate, up] }, g) => {
    const s = sigmoid(gate!);
    const a = mul(g, s);
    const toUp = mul(a, gate!);
    return [mul(up!, sub(add(a, toUp), mul(toUp, s))), toUp];
  },
  onnx: (_, [gate, up], emit) =>
    emit.node("Mul", [emit.node("Mul", [gate!, emit.node("Sigmoid", [gate!])]), up!]),
  wgsl: {
    kind: "map",
    element: (_, at, code) => {
      const gate = code.name("f32", code.read(0, at));
      return `(${gate} / (1.0 + exp(-${gate})) * ${code.read(1, at)})`;
    },
  },
  reference: (_, [gate, up]) => gate!.map((x, i) => (x / (1 + Math.exp(-x))) * up![i]!),
};

/** `gate · sigmoid(gate) · up`, elementwise: the inner activation of a Llama block. Two tensors of one shape. */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  requireDType("swiglu", "the gate", gate, "float32");
  requireDType("swiglu", "the other argument", up, "float32");
  if (!sameShape(gate.shape, up.shape)) {
    throw new TensorError("swiglu", {
      got: `shapes ${show(gate.shape)} and ${show(up.shape)}`,
      expected: "equal shapes",
      fix: "Project both from the same rows.",
    });
  }
  return node(operation, [gate, up], null, gate.shape);
}
