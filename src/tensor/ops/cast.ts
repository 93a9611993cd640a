import { node, type Operation, type Tensor } from "../graph.ts";
import { elementType } from "../onnx.ts";
import type { DType } from "../shape.ts";

const operation: Operation<null> = {
  name: "cast",
  gradient: () => [],
  onnx: (y, inputs, emit) => emit.node("Cast", inputs, { to: { int: elementType(y.dtype) } }),
  reference: (y, [x]) =>
    y.dtype === "float32" ? x! : x!.map(y.dtype === "int32" ? Math.trunc : (v) => Number(v !== 0)),
  again: "copy",
};

/** Convert to another type. Fractions are truncated. No gradient, since one of the types is not real-valued. */
export const cast = (x: Tensor, to: DType): Tensor =>
  x.dtype === to ? x : node(operation, [x], null, x.shape, to);
