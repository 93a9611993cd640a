/** A graph by the operations that have kernels: others are rewritten, equal nodes become one, thin products become sums. */
import { ancestors, isInput, node, type Tensor } from "../graph.ts";
import { addends } from "../ops/add.ts";
import { addMatmul } from "../ops/addMatmul.ts";
import { factors } from "../ops/matmul.ts";
import { mul } from "../ops/mul.ts";
import { reshape } from "../ops/reshape.ts";
import { sum } from "../ops/sum.ts";
import { isConstant } from "./fusion.ts";
import type { ProductAttributes } from "./lowering.ts";

/** Numbers of the longest constant that is compared with others. */
const compared = 4096;

function keyOf(t: Tensor): string {
  const attributes = isConstant(t) && t.attributes.data.length > compared ? t.id : t.attributes;
  return JSON.stringify([t.op.name, t.inputs.map((x) => x.id), attributes, t.shape, t.dtype]);
}

/** A product with one row or one column as a sum, which a tile would compute for many rows in vain. */
function asSum(t: Tensor): Tensor | undefined {
  if (t.op.wgsl?.kind !== "product") return undefined;
  const { transposeA, transposeB, scale } = t.attributes as ProductAttributes;
  const [a, b] = t.inputs as [Tensor, Tensor];
  const [M, N] = t.shape.slice(-2) as [number, number];
  if (M !== 1 && N !== 1) return undefined;
  const lead = (x: Tensor): readonly number[] => x.shape.slice(0, -2);
  const K = a.shape.at(transposeA ? -2 : -1)!;
  // the factor that is one row or column, turned so that it lines up with the other one
  const [thin, whole, alongK] = N === 1 ? [b, a, !transposeA] : [a, b, transposeB];
  const turned = reshape(thin, [...lead(thin), ...(alongK ? [1, K] : [K, 1])]);
  const added = sum(mul(whole, turned), [alongK ? -1 : -2]);
  return reshape(scale === 1 ? added : mul(added, scale), t.shape);
}

/** A sum with a product that nothing else reads as one product that adds. */
function withResidual(t: Tensor, uses: ReadonlyMap<Tensor, number>): Tensor | undefined {
  const parts = addends(t);
  if (!parts || t.shape.length !== 2) return undefined;
  for (const [x, y] of [parts, [parts[1], parts[0]] as const]) {
    const product = (uses.get(y) ?? 0) === 1 ? factors(y) : undefined;
    const thin = product && (t.shape[0] === 1 || t.shape[1] === 1);
    if (product && !thin && !isConstant(x)) return addMatmul(x, product.a, product.b, product.options);
  }
  return undefined;
}

/** The same values as the given tensors, by new nodes whose ids are in the same order. @param fed tensors that are fed; they stay. @param residuals whether products add. */
export function simplified(of: readonly Tensor[], fed: ReadonlySet<Tensor>, residuals: boolean): Tensor[] {
  const done = new Map<Tensor, Tensor>();
  const uses = new Map<Tensor, number>();
  const use = (t: Tensor): void => void uses.set(t, (uses.get(t) ?? 0) + 1);
  for (const t of of) use(t);
  for (const t of ancestors(of, (t) => fed.has(t))) if (!fed.has(t)) for (const x of t.inputs) use(x);
  const known = new Map<string, Tensor>();
  const single = (t: Tensor): Tensor => {
    const key = keyOf(t);
    const old = known.get(key);
    if (old) return old;
    known.set(key, t);
    return t;
  };
  const visit = (t: Tensor): Tensor => {
    const old = done.get(t);
    if (old) return old;
    let next = t;
    const residual = residuals && !fed.has(t) ? withResidual(t, uses) : undefined;
    if (residual) next = visit(residual);
    else if (!fed.has(t)) {
      for (const x of ancestors(t.inputs, (x) => fed.has(x) || done.has(x))) visit(x);
      const inputs = t.inputs.map((x) => done.get(x)!);
      const own = isConstant(t) || isInput(t) ? t : node(t.op, inputs, t.attributes, t.shape, t.dtype);
      const lowering = t.op.wgsl;
      const other = lowering?.kind === "rewrite" ? lowering.as(own) : asSum(own);
      next = other ? visit(other) : single(own);
    }
    done.set(t, next);
    return next;
  };
  for (const t of ancestors(of, (t) => fed.has(t))) visit(t);
  return of.map(visit);
}
