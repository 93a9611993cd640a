/** Which values of a graph get a buffer, and which are computed where they are read. */
import type { Port } from "../compile.ts";
import { TensorError } from "../error.ts";
import type { ConstantAttributes, Tensor } from "../graph.ts";
import { type DType, sizeOf } from "../shape.ts";
import type { Kernel } from "./kernels.ts";
import type { Lowering, ProductAttributes } from "./lowering.ts";
import { type ProductOptions, splitsOf } from "./products.ts";

export type Place =
  | { readonly kind: "input" | "output"; readonly name: string }
  /** A buffer that values share one after another. */
  | { readonly kind: "temporary"; readonly slot: number }
  | { readonly kind: "constant"; readonly index: number };

export interface Step extends Kernel {
  /** The operation, for profiles. */
  readonly label: string;
  /** By binding; the last one is written. */
  readonly bindings: readonly Place[];
}

export interface Plan {
  readonly inputs: readonly Port[];
  /** Those that are not written in place. */
  readonly outputs: readonly Port[];
  readonly steps: readonly Step[];
  /** Bytes of each temporary buffer. */
  readonly temporaries: readonly number[];
  readonly constants: readonly { readonly dtype: DType; readonly data: readonly number[] }[];
}

export interface PlanOptions extends ProductOptions {
  /** Most buffers of one kernel. */
  readonly bindings: number;
  /** Outputs that are written in place: for each the name of the input that it updates. */
  readonly updates?: Readonly<Record<string, string>>;
}

export const loweringOf = (t: Tensor): Lowering<Tensor, Tensor> => {
  if (t.op.wgsl) return t.op.wgsl as Lowering<Tensor, Tensor>;
  throw new TensorError("wgsl", {
    got: `the operation ${t.op.name}${t.name ? ` "${t.name}"` : ""}`,
    expected: "operations with kernels, and every input among the given inputs",
    fix: "Add the input, or run on the CPU.",
  });
};

export const isConstant = (t: Tensor): t is Tensor<ConstantAttributes> => t.op.name === "constant";
/** Whether a constant is one number everywhere, which is written into kernels. */
export const isFilled = (t: Tensor): boolean => isConstant(t) && t.attributes.data.length === 1;

/** Something that a plan does: one or more kernels that write a buffer. */
export interface Work {
  /** Tensors whose buffers it reads. */
  readonly reads: readonly Tensor[];
  /** What it writes: the tensor's own buffer, or an input that is updated. */
  readonly into: Tensor;
  emit(place: (t: Tensor) => Place, out: Place, scratch: (bytes: number) => Place): readonly Step[];
}

/** What a graph becomes before it is ordered. */
export interface Graph {
  readonly fed: ReadonlySet<Tensor>;
  /** Values that get a buffer. */
  readonly kept: ReadonlySet<Tensor>;
  /** Products whose buffers hold parts of the sum, which whoever reads them adds up: the number of parts. */
  readonly parts: ReadonlyMap<Tensor, number>;
  resolve(t: Tensor): Tensor;
}

/** The inputs of an operation that its kernel reads from buffers, whatever they are. */
export function fromBuffers(t: Tensor): readonly Tensor[] {
  const { inputs } = t;
  switch (loweringOf(t).kind) {
    case "product":
    case "topIds":
    case "addProduct":
    case "packedAttention":
      return inputs;
    case "rmsNorm":
      return [inputs[1]!];
    case "scatter":
      return [inputs[1]!];
    case "addRows":
      return [inputs[0]!];
    case "drawIds":
      return [inputs[1]!];
    case "attendOnce":
      return inputs.slice(0, 3);
    default:
      return [];
  }
}

/** The inputs whose expressions become part of its kernel. */
function joined(t: Tensor): readonly Tensor[] {
  const { inputs } = t;
  switch (loweringOf(t).kind) {
    case "map":
    case "reduce":
      return inputs;
    case "drawIds":
    case "softmax":
    case "rmsNorm":
      return [inputs[0]!];
    case "scatter":
      return [inputs[0]!, inputs[2]!];
    case "addRows":
      return [inputs[1]!];
    case "attendOnce":
      return [inputs[3]!];
    default:
      return [];
  }
}

/** Most buffers that an expression with several readers may read to be computed again for each of them. */
const cheapLeaves = 2;
const cheapWeight = 6;
/** Operations of the longest expression. */
const longest = 60;

/** Decides which values get a buffer of their own; the others are computed where they are read. */
export function keptOf(
  all: readonly Tensor[],
  roots: readonly Tensor[],
  g: Omit<Graph, "kept" | "parts">,
  { bindings, fewRows = false }: PlanOptions,
): Set<Tensor> {
  const { fed, resolve } = g;
  const uses = new Map<Tensor, number>();
  const kept = new Set<Tensor>();
  const own = (t: Tensor): boolean => !fed.has(t) && !isConstant(t);
  for (const r of roots) if (own(r)) kept.add(r);
  for (const t of all) {
    for (const x of t.inputs) {
      const r = resolve(x);
      uses.set(r, (uses.get(r) ?? 0) + 1);
    }
    for (const x of fromBuffers(t)) if (own(resolve(x))) kept.add(resolve(x));
    if (loweringOf(t).kind !== "map") kept.add(t);
  }
  const sizes = new Map<Tensor, { leaves: Set<Tensor>; weight: number }>();
  const sizeOfExpression = (of: readonly Tensor[]) => {
    const leaves = new Set<Tensor>();
    let weight = 1;
    for (const input of of) {
      const x = resolve(input);
      if (isFilled(x)) continue;
      const inner = sizes.get(x);
      if (!own(x) || kept.has(x) || !inner) {
        leaves.add(x);
        if (fewRows && own(x) && loweringOf(x).kind === "product") weight += cheapWeight;
      } else {
        for (const leaf of inner.leaves) leaves.add(leaf);
        weight += inner.weight;
      }
    }
    return { leaves, weight };
  };
  for (const t of all) {
    const of = joined(t);
    const room = bindings - 1 - fromBuffers(t).length;
    let size = sizeOfExpression(of);
    while (size.leaves.size > room || size.weight > longest) {
      const widest = of
        .map(resolve)
        .filter((x) => own(x) && !kept.has(x))
        .sort(
          (a, b) =>
            sizes.get(b)!.leaves.size - sizes.get(a)!.leaves.size ||
            sizes.get(b)!.weight - sizes.get(a)!.weight,
        )[0];
      if (!widest) break;
      kept.add(widest);
      size = sizeOfExpression(of);
    }
    sizes.set(t, size);
    const dear = size.leaves.size > cheapLeaves || size.weight > cheapWeight;
    if ((uses.get(t) ?? 0) > 1 && dear) kept.add(t);
    // it can be computed while what it sums up is there
    for (const leaf of size.leaves) if (kept.has(leaf) && isSummary(t, leaf)) kept.add(t);
  }
  return kept;
}

/** A value is a summary of one that it is computed from if it is at least so many times smaller. */
const muchSmaller = 16;
const isSummary = (of: Tensor, x: Tensor): boolean => muchSmaller * sizeOf(of.shape) <= sizeOf(x.shape);

/** A value with a buffer that is much smaller than one that it reads, and all the buffers that it reads. */
interface Summary {
  readonly of: Tensor;
  readonly reads: readonly Tensor[];
}

/** For each value with a buffer: the summaries that read it, in order. */
export function summariesOf(
  all: readonly Tensor[],
  kept: ReadonlySet<Tensor>,
  resolve: (t: Tensor) => Tensor,
): ReadonlyMap<Tensor, readonly Summary[]> {
  const leaves = new Map<Tensor, readonly Tensor[]>();
  const out = new Map<Tensor, Summary[]>();
  for (const t of all) {
    const reads = [
      ...new Set(t.inputs.map(resolve).flatMap((x) => (kept.has(x) ? [x] : (leaves.get(x) ?? [x])))),
    ];
    leaves.set(t, reads);
    const own = reads.filter((x) => kept.has(x));
    if (!kept.has(t) || !own.some((x) => isSummary(t, x))) continue;
    for (const x of own) {
      const known = out.get(x) ?? [];
      known.push({ of: t, reads });
      out.set(x, known);
    }
  }
  return out;
}

/** The split products that only expressions read, which add the parts up themselves. */
export function partsRead(
  all: readonly Tensor[],
  roots: readonly Tensor[],
  resolve: (t: Tensor) => Tensor,
  options: PlanOptions,
): Map<Tensor, number> {
  const whole = new Set(roots);
  for (const t of all) for (const x of fromBuffers(t)) whole.add(resolve(x));
  const out = new Map<Tensor, number>();
  for (const t of all) {
    const lowering = loweringOf(t);
    if (lowering.kind !== "product" || whole.has(t) || !options.fewRows) continue;
    const [a, b] = t.inputs as [Tensor, Tensor];
    const splits = splitsOf({ ...dimensions(t, a, b, lowering.attributes(t)), plus: "nothing" }, options);
    if (splits > 1) out.set(t, splits);
  }
  return out;
}

/** Sizes of a product. */
export const dimensions = (
  y: Tensor,
  a: Tensor,
  b: Tensor,
  { transposeA, transposeB, scale }: ProductAttributes,
) => ({
  M: y.shape.at(-2)!,
  N: y.shape.at(-1)!,
  K: a.shape.at(transposeA ? -2 : -1)!,
  batch: { of: y.shape.slice(0, -2), a: a.shape.slice(0, -2), b: b.shape.slice(0, -2) },
  transposeA,
  transposeB,
  scale,
});
