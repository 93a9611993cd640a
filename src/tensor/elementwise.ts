// Shared code of elementwise operations. An op file adds its formula, ONNX name and gradient.
import {
  constant,
  node,
  type Operation,
  requireDType,
  type Tensor,
  type TensorLike,
  toTensor,
} from "./graph.ts";
import { broadcastShapes, expand } from "./shape.ts";
import { readBroadcast } from "./wgsl/code.ts";

/**
 * An operation on one float tensor.
 * @param onnx the operator, or a function that emits several. @param wgsl the formula.
 */
export function unary(
  name: string,
  onnx: string | Operation<null>["onnx"],
  wgsl: (x: string) => string,
  f: (x: number) => number,
  gradient: (x: Tensor, y: Tensor, g: Tensor) => Tensor,
): Operation<null> {
  return {
    name,
    gradient: (y, g) => [gradient(y.inputs[0]!, y, g)],
    onnx: typeof onnx === "string" ? (_, inputs, emit) => emit.node(onnx, inputs) : onnx,
    wgsl: { kind: "map", element: (_, at, code) => wgsl(code.name("f32", code.read(0, at))) },
    reference: (_, [x]) => x!.map(f),
  };
}

export function applyUnary(op: Operation<null>, x: TensorLike): Tensor {
  const t = toTensor(x);
  requireDType(op.name, "the argument", t, "float32");
  return node(op, [t], null, t.shape);
}

/** An operation on two tensors that broadcast as in NumPy. */
export function binary(
  name: string,
  onnx: string,
  wgsl: (a: string, b: string) => string,
  f: (a: number, b: number) => number,
  gradient: (a: Tensor, b: Tensor, y: Tensor, g: Tensor) => readonly (Tensor | undefined)[],
): Operation<null> {
  return {
    name,
    gradient: (y, g) => gradient(y.inputs[0]!, y.inputs[1]!, y, g),
    onnx: (_, inputs, emit) => emit.node(onnx, inputs),
    wgsl: {
      kind: "map",
      element: (y, at, code) => wgsl(readBroadcast(code, y, 0, at), readBroadcast(code, y, 1, at)),
    },
    reference: (y, [a, b]) => {
      const left = expand(a!, y.inputs[0]!.shape, y.shape);
      const right = expand(b!, y.inputs[1]!.shape, y.shape);
      return left.map((x, i) => f(x, right[i]!));
    },
  };
}

export function applyBinary(op: Operation<null>, a: TensorLike, b: TensorLike): Tensor {
  const [x, y] = [toTensor(a), toTensor(b)];
  requireDType(op.name, "the first argument", x, "float32");
  requireDType(op.name, "the second argument", y, "float32");
  return node(op, [x, y], null, broadcastShapes(op.name, x.shape, y.shape));
}

/** A comparison: a boolean per element; no gradient; recomputed rather than kept. */
export function comparison(
  name: string,
  onnx: string,
  sign: "<" | "<=" | ">=" | "==",
  f: (a: number, b: number) => boolean,
): Operation<null> {
  return {
    ...binary(
      name,
      onnx,
      (a, b) => `(${a} ${sign} ${b})`,
      (a, b) => Number(f(a, b)),
      () => [],
    ),
    again: "copy",
  };
}

/** Compares two tensors of the same type; a number takes the type of the other side. */
export function applyComparison(op: Operation<null>, a: Tensor, b: TensorLike): Tensor {
  const y = typeof b === "number" ? constant(b, [], a.dtype) : b;
  requireDType(op.name, "the first argument", a, "float32", "int32");
  requireDType(op.name, "the second argument", y, a.dtype);
  return node(op, [a, y], null, broadcastShapes(op.name, a.shape, y.shape), "bool");
}
