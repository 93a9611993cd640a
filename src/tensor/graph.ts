import { TensorError } from "./error.ts";
import type { Emit } from "./onnx.ts";
import type { DType } from "./shape.ts";
import { type Shape, show, sizeOf } from "./shape.ts";
import type { Lowering } from "./wgsl/lowering.ts";

/** The definition of an operation. A is the type of its attributes. */
export interface Operation<A = unknown> {
  readonly name: string;
  /** Cotangents of the inputs from that of the result; undefined if no gradient flows. */
  gradient(node: Tensor<A>, cotangent: Tensor): readonly (Tensor | undefined)[];
  /** Emit ONNX nodes; returns the name of the value that holds the result. */
  onnx(node: Tensor<A>, inputs: readonly string[], emit: Emit): string;
  /** How WGSL kernels compute it; inputs and constants have none. */
  readonly wgsl?: Lowering<Tensor<A>, Tensor>;
  /** Simple reference implementation in float64. Integers and booleans are numbers here. */
  reference(node: Tensor<A>, inputs: readonly Float64Array[]): Float64Array;
  /**
   * Whether a backward program recomputes the value instead of keeping it:
   * always ("free"), or only if its inputs are available anyway ("copy").
   */
  readonly again?: "free" | "copy";
}

/** One node with one result: an immutable value. Inputs always have smaller ids. */
export interface Tensor<A = unknown> {
  readonly id: number;
  readonly op: Operation<A>;
  readonly inputs: readonly Tensor[];
  readonly attributes: A;
  readonly shape: Shape;
  readonly dtype: DType;
  readonly name?: string;
}

/** Where a tensor is expected, a number stands for a float32 scalar. */
export type TensorLike = Tensor | number;

let made = 0;

/** A node of the graph. Used by op files only. */
export function node<A>(
  op: Operation<A>,
  inputs: readonly Tensor[],
  attributes: A,
  shape: Shape,
  dtype: DType = "float32",
): Tensor<A> {
  return { id: made++, op, inputs, attributes, shape, dtype };
}

const inputOperation: Operation<null> = {
  name: "input",
  gradient: () => [],
  onnx: (n) => {
    throw new TensorError("compile", {
      got: `a graph that reads the input "${n.name}" ${show(n.shape)}`,
      expected: "every input among the given inputs",
      fix: `Add "${n.name}" to the list of inputs.`,
    });
  },
  reference: (n) => {
    throw new TensorError("evaluate", {
      got: `no value for the input "${n.name}" ${show(n.shape)}`,
      expected: "a feed for every input",
      fix: `Add "${n.name}" to the feeds.`,
    });
  },
};

/** A named value that is fed at run time. */
export function input(name: string, shape: Shape, dtype: DType = "float32"): Tensor {
  if (name === "" || shape.some((n) => !Number.isInteger(n) || n < 1)) {
    throw new TensorError("input", {
      got: `name "${name}" and shape ${show(shape)}`,
      expected: "a name, and lengths that are whole and at least 1",
      fix: "Give the input a name and a static shape.",
    });
  }
  return { ...node(inputOperation, [], null, shape, dtype), name };
}

export const isInput = (t: Tensor): boolean => t.op === (inputOperation as Operation);

/** Values of a constant: one for each element, or a single one for all. */
export interface ConstantAttributes {
  readonly data: readonly number[];
}

const constantOperation: Operation<ConstantAttributes> = {
  name: "constant",
  gradient: () => [],
  onnx: (n, _, emit) =>
    n.attributes.data.length === 1
      ? emit.filled(n.dtype, n.shape, n.attributes.data[0]!)
      : emit.constant(n.dtype, n.shape, n.attributes.data),
  reference: (n) =>
    n.attributes.data.length === 1
      ? new Float64Array(sizeOf(n.shape)).fill(n.attributes.data[0]!)
      : Float64Array.from(n.attributes.data),
  again: "free",
};

/** A value known when the graph is built. @param shape by default a scalar, or the length of the list. */
export function constant(
  data: number | ArrayLike<number>,
  shape: Shape = typeof data === "number" ? [] : [data.length],
  dtype: DType = "float32",
): Tensor {
  const list = typeof data === "number" ? [data] : Array.from(data);
  if (list.length !== 1 && list.length !== sizeOf(shape)) {
    throw new TensorError("constant", {
      got: `${list.length} numbers for shape ${show(shape)}`,
      expected: `${sizeOf(shape)} numbers, or one to repeat`,
      fix: "Give as many numbers as the shape has elements.",
    });
  }
  return node(constantOperation, [], { data: list }, shape, dtype);
}

export const toTensor = (x: TensorLike): Tensor => (typeof x === "number" ? constant(x) : x);

/** The given tensors and all tensors that they are computed from, sources first. */
export function ancestors(
  of: readonly Tensor[],
  stop: (t: Tensor) => boolean = () => false,
): readonly Tensor[] {
  const seen = new Set<Tensor>();
  const stack = [...of];
  for (let t = stack.pop(); t; t = stack.pop()) {
    if (seen.has(t)) continue;
    seen.add(t);
    if (!stop(t)) stack.push(...t.inputs);
  }
  return [...seen].sort((a, b) => a.id - b.id);
}

/** Emits the ONNX nodes of values that have no name yet, and names them. @param names those that are known; it grows. */
export function emitValues(of: readonly Tensor[], names: Map<Tensor, string>, emit: Emit): void {
  for (const t of ancestors(of, (t) => names.has(t))) {
    if (names.has(t)) continue;
    const inputs = t.inputs.map((x) => names.get(x)!);
    names.set(t, t.op.onnx(t, inputs, emit));
  }
}

/** Throws unless the tensor has one of the wanted types. */
export function requireDType(where: string, what: string, t: Tensor, ...wanted: readonly DType[]): void {
  if (wanted.includes(t.dtype)) return;
  throw new TensorError(where, {
    got: `${what} of type ${t.dtype}`,
    expected: wanted.join(" or "),
    fix: "Convert it with cast first.",
  });
}
