import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { elementType } from "../onnx.ts";
import { show, sizeOf } from "../shape.ts";

const operation: Operation<null> = {
  name: "topIds",
  gradient: () => [],
  onnx: (y, [x], emit) => {
    const [, ids] = emit.nodes("TopK", [x!, emit.list([y.shape.at(-1)!])], 2, {
      axis: { int: -1 },
      largest: { int: 1 },
      sorted: { int: 1 },
    });
    return emit.node("Cast", [ids!], { to: { int: elementType("int32") } });
  },
  wgsl: { kind: "topIds" },
  reference: (y, [x]) => {
    const n = y.inputs[0]!.shape.at(-1)!;
    const k = y.shape.at(-1)!;
    return Float64Array.from(
      Array.from({ length: sizeOf(y.shape) / k }, (_, r) =>
        Array.from({ length: n }, (_, i) => i)
          .sort((a, b) => x![r * n + b]! - x![r * n + a]! || a - b)
          .slice(0, k),
      ).flat(),
    );
  },
};

/**
 * Indices of the k largest elements along the last axis, largest first; ties go to the lower index. No gradient.
 * @param x shape [..., V]. @returns int32, shape [..., k].
 */
export function topIds(x: Tensor, k: number): Tensor {
  requireDType("topIds", "the argument", x, "float32");
  const width = x.shape.at(-1) ?? 0;
  if (!Number.isInteger(k) || k < 1 || k > width) {
    throw new TensorError("topIds", {
      got: `k = ${k} for a tensor of shape ${show(x.shape)}`,
      expected: `a whole number from 1 to ${width}`,
      fix: "Choose a k of at most the length of the last axis.",
    });
  }
  return node(operation, [x], null, x.shape.with(-1, k), "int32");
}
