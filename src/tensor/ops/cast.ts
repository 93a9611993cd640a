import { node, type Operation, type Tensor } from "../graph.ts";
import { elementType } from "../onnx.ts";
import type { DType } from "../shape.ts";

const operation: Operation<null> = {
  name: "cast",
  gradient: () => [],
  onnx: (y, inputs, emit) => emit.node("Cast", inputs, { to: { int: elementType(y.dtype) } }),
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const x = code.read(0, at);
      const isBool = y.inputs[0]!.dtype === "bool";
      if (y.dtype === "bool") return `(${x} != ${y.inputs[0]!.dtype === "float32" ? "0.0" : "0i"})`;
      if (isBool) return y.dtype === "float32" ? `select(0.0, 1.0, ${x})` : `select(0i, 1i, ${x})`;
      return y.dtype === "float32" ? `f32(${x})` : `i32(${x})`;
    },
  },
  reference: (y, [x]) =>
    y.dtype === "float32" ? x! : x!.map(y.dtype === "int32" ? Math.trunc : (v) => Number(v !== 0)),
  again: "copy",
};

/** Convert to another type. Fractions are truncated. No gradient, since one of the types is not real-valued. */
export const cast = (x: Tensor, to: DType): Tensor =>
  x.dtype === to ? x : node(operation, [x], null, x.shape, to);
