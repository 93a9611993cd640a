import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { type Shape, sameShape, show } from "../shape.ts";
import { type MatmulOptions, matmul } from "./matmul.ts";

const operation: Operation<Required<MatmulOptions>> = {
  name: "addMatmul",
  gradient: ({ inputs: [, a, b], attributes }, g) => {
    const product = matmul(a!, b!, attributes);
    return [g, ...product.op.gradient(product, g)];
  },
  onnx: ({ attributes: { transposeA, transposeB, scale } }, [sum, a, b], emit) =>
    emit.node("Gemm", [a!, b!, sum!], {
      alpha: { float: scale },
      beta: { float: 1 },
      transA: { int: Number(transposeA) },
      transB: { int: Number(transposeB) },
    }),
  wgsl: { kind: "addProduct", attributes: (y) => y.attributes },
  reference: (y, [sum, a, b]) => {
    const product = matmul(y.inputs[1]!, y.inputs[2]!, y.attributes);
    return product.op.reference(product, [a!, b!]).map((x, i) => x + sum![i]!);
  },
};

/** `sum + a b` for matrices, as one product that accumulates into the sum. Options as for {@link matmul}. */
export function addMatmul(sum: Tensor, a: Tensor, b: Tensor, options: MatmulOptions = {}): Tensor {
  requireDType("addMatmul", "the sum", sum, "float32");
  const product = matmul(a, b, options);
  if (product.shape.length !== 2 || !sameShape(sum.shape, product.shape)) {
    throw new TensorError("addMatmul", {
      got: `a sum of shape ${show(sum.shape)} and a product of shape ${show(product.shape)}`,
      expected: "equal shapes of two axes",
      fix: "Use add and matmul if something must broadcast.",
    });
  }
  return node(
    operation,
    [sum, a, b],
    {
      transposeA: options.transposeA ?? false,
      transposeB: options.transposeB ?? false,
      scale: options.scale ?? 1,
    },
    sum.shape as Shape,
  );
}
