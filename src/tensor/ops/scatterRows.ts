import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { elementType } from "../onnx.ts";
import { ravel, sameShape, show, sizeOf } from "../shape.ts";

const operation: Operation<null> = {
  name: "scatterRows",
  gradient: (y) => {
    throw new TensorError("scatterRows", {
      got: `a gradient through a write into a cache of shape ${show(y.shape)}`,
      expected: "caches in programs without gradient only",
      fix: "Train on whole sequences without a cache, or put stopGradient around it.",
    });
  },
  onnx: (_, [cache, index, updates], emit) =>
    emit.node("ScatterND", [
      cache!,
      emit.node("Cast", [index!], { to: { int: elementType("int64") } }),
      updates!,
    ]),
  wgsl: { kind: "scatter" },
  reference: (y, [cache, index, updates]) => {
    const depth = y.inputs[1]!.shape.at(-1)!;
    const width = sizeOf(y.shape.slice(depth));
    const result = cache!.slice();
    for (let i = 0; i < index!.length / depth; i++) {
      const at = Array.from(index!.subarray(i * depth, (i + 1) * depth));
      const to = ravel(at, y.shape.slice(0, depth)) * width;
      result.set(updates!.subarray(i * width, (i + 1) * width), to);
    }
    return result;
  },
};

/**
 * The cache with some of its rows replaced. No gradient. If the output array is the array fed as the cache, the
 * write happens in place.
 * @param cache shape [...lead, ...row], with K lead axes.
 * @param index int32, shape [...I, K]: the position of each row on the lead axes. Positions must be distinct.
 * @param updates shape [...I, ...row].
 */
export function scatterRows(cache: Tensor, index: Tensor, updates: Tensor): Tensor {
  requireDType("scatterRows", "the index", index, "int32");
  requireDType("scatterRows", "the updates", updates, cache.dtype);
  const depth = index.shape.at(-1) ?? 0;
  const expected = [...index.shape.slice(0, -1), ...cache.shape.slice(depth)];
  if (depth < 1 || depth > cache.shape.length || !sameShape(updates.shape, expected)) {
    throw new TensorError("scatterRows", {
      got: `index ${show(index.shape)} and updates ${show(updates.shape)} for a cache of shape ${show(cache.shape)}`,
      expected: `updates of shape ${show(expected)}`,
      fix: "Give the index a last axis with one number per lead axis of the cache.",
    });
  }
  return node(operation, [cache, index, updates], null, cache.shape, cache.dtype);
}
