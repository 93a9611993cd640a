/** The kernels of a graph's operations. */
import type { ConstantAttributes, Tensor } from "../graph.ts";
import { broadcastTo } from "../ops/broadcastTo.ts";
import { type DType, sizeOf } from "../shape.ts";
import { type Code, literal, statements, storageType, wgslType } from "./code.ts";
import {
  dimensions,
  type Graph,
  isConstant,
  isFilled,
  loweringOf,
  type Place,
  type PlanOptions,
  type Step,
  type Work,
} from "./fusion.ts";
import { type Bound, elements, type Kernel, reduction } from "./kernels.ts";
import type { Lowering, ProductAttributes } from "./lowering.ts";
import { packedAttentionKernel } from "./packedAttention.ts";
import { type ProductShape, product, splitsOf } from "./products.ts";
import {
  addRowsKernel,
  attendOnceKernel,
  drawIdsKernel,
  joinParts,
  rmsNormKernel,
  scatterKernel,
  softmaxKernel,
  topIdsKernel,
} from "./rowKernels.ts";

/** Collects the expressions of one kernel and the buffers that they read. */
function scope({ fed, kept, parts: inParts, resolve }: Graph) {
  const code = statements();
  const names = new Map<Tensor, string>();
  const leaf = (t: Tensor): string => {
    const known = names.get(t);
    if (known !== undefined) return known;
    const made = `b${names.size}`;
    names.set(t, made);
    return made;
  };
  const value = (given: Tensor, at: string): string => {
    const t = resolve(given);
    if (isFilled(t)) return literal(t.dtype, (t as Tensor<ConstantAttributes>).attributes.data[0]!);
    const parts = inParts.get(t);
    if (parts !== undefined) {
      const name = leaf(t);
      const count = sizeOf(t.shape);
      const terms = Array.from(
        { length: parts },
        (_, k) => `${name}[${at}${k === 0 ? "" : ` + ${k * count}u`}]`,
      );
      return code.name("f32", `(${terms.join(" + ")})`);
    }
    if (fed.has(t) || kept.has(t) || isConstant(t)) {
      const read = `${leaf(t)}[${at}]`;
      return code.name(wgslType(t.dtype), t.dtype === "bool" ? `(${read} != 0u)` : read);
    }
    return code.name(wgslType(t.dtype), element(t, at));
  };
  /** The value of an elementwise operation, computed here. */
  const element = (t: Tensor, at: string): string => {
    const lowering = loweringOf(t);
    if (lowering.kind !== "map") throw new Error(`${t.op.name} is not elementwise and has no buffer`);
    const within: Code = { ...code, read: (input, index) => value(t.inputs[input]!, index) };
    return lowering.element(t, at, within);
  };
  const declare = (i: number, name: string, dtype: DType, access: "read" | "read_write"): string =>
    `@group(0) @binding(${i}) var<storage, ${access}> ${name}: array<${storageType(dtype)}>;`;
  /** Declarations of everything read so far and of the result. @param adding whether values are added to it. */
  const bound = (dtype: DType, adding = false): Bound => ({
    declarations: [
      ...[...names].map(([t, name], i) => declare(i, name, t.dtype, "read")),
      declare(names.size, "out", dtype, "read_write"),
    ].join("\n"),
    write: (at, x) => {
      const stored = dtype === "bool" ? `select(0u, 1u, ${x})` : x;
      return adding ? `{ let o = ${at}; out[o] = out[o] + ${stored}; }` : `out[${at}] = ${stored};`;
    },
  });
  return { code, leaf, value, element, bound, leaves: (): Tensor[] => [...names.keys()] };
}

type Scope = ReturnType<typeof scope>;

/** A value's statements apart, for kernels that place them themselves. */
function apart(s: Scope, t: Tensor, at: string): { readonly text: string; readonly value: string } {
  const { result, lines } = s.code.inside(() => s.value(t, at));
  return { text: lines.join("\n"), value: result };
}

/** A graph that kernels are made for, and what they may use. */
export interface Making {
  readonly g: Graph;
  readonly options: PlanOptions;
}

const step = (label: string, kernel: Kernel, bindings: readonly Place[]): Step => ({
  label,
  code: kernel.code,
  groups: kernel.groups,
  bindings,
});

/** A kernel by one scope; its bindings are what the scope read, then what is written. */
function single(g: Graph, into: Tensor, label: string, build: (s: Scope) => Kernel): Work {
  const s = scope(g);
  const kernel = build(s);
  const reads = s.leaves();
  return {
    reads,
    into,
    emit: (place, out) => [step(label, kernel, [...reads.map(place), out])],
  };
}

const map = (g: Graph, t: Tensor): Work =>
  single(g, t, t.op.name, (s) =>
    elements(
      sizeOf(t.shape),
      s.code,
      () => s.bound(t.dtype),
      (_, at) => s.element(t, at),
    ),
  );

/** Copies or adds an expression into a buffer. */
export const put = (g: Graph, t: Tensor, into: Tensor, adding: boolean): Work =>
  single(g, into, adding ? "accumulate" : "copy", (s) =>
    elements(
      sizeOf(t.shape),
      s.code,
      () => s.bound(t.dtype, adding),
      (_, at) => s.value(t, at),
    ),
  );

const zeros = (g: Graph, t: Tensor): Work =>
  single(g, t, "zeros", (s) =>
    elements(
      sizeOf(t.shape),
      s.code,
      () => s.bound(t.dtype),
      () => literal(t.dtype, 0),
    ),
  );

function reduce(g: Graph, t: Tensor, lowering: Extract<Lowering<Tensor, Tensor>, { kind: "reduce" }>): Work {
  const s = scope(g);
  const x = t.inputs[0]!;
  const made = reduction(
    { by: lowering.by, shape: x.shape, axes: lowering.axes(t) },
    s.code,
    () => s.bound("float32"),
    (_, at) => s.value(x, at),
  );
  const reads = s.leaves();
  return {
    reads,
    into: t,
    emit(place, out, scratch) {
      if (made.stages === 1) return [step(t.op.name, made.kernel, [...reads.map(place), out])];
      const part = scratch(4 * made.partial);
      return [
        step(t.op.name, made.first, [...reads.map(place), part]),
        step(t.op.name, made.second, [part, out]),
      ];
    },
  };
}

/** @param plus what the product is added to; a residual is the last of the given tensors. */
function multiply(
  { g, options }: Making,
  t: Tensor,
  into: Tensor,
  given: readonly Tensor[],
  by: ProductAttributes,
  plus: ProductShape["plus"],
): Work {
  const [a, b] = given as [Tensor, Tensor];
  const whole = { ...dimensions(t, a, b, by), plus };
  const label = `product ${by.transposeA ? "T" : "N"}${by.transposeB ? "T" : "N"}`;
  const reads = given.map(g.resolve);
  const splits = plus === "residual" ? 1 : splitsOf(whole, options);
  const shape: ProductShape = { ...whole, splits };
  const inParts = splits > 1 && g.parts.has(t);
  return {
    reads,
    into,
    emit(place, out, scratch) {
      const places = reads.map(place);
      // kernels for tensor cores read and write whole tiles of rows
      const padded = out.kind !== "input" && (plus !== "residual" || places[2]!.kind !== "input");
      if (splits === 1 || inParts) return [step(label, product(shape, options, padded), [...places, out])];
      const part = scratch(4 * splits * shape.M * shape.N);
      return [
        step(label, product({ ...shape, plus: "nothing" }, options, false), [...places, part]),
        step("join", joinParts(splits, shape.M * shape.N, plus === "result" ? "result" : "nothing"), [
          part,
          out,
        ]),
      ];
    },
  };
}

/** What an operation that updates its first input does to a buffer that holds it. */
export function update(m: Making, t: Tensor, into: Tensor): Work {
  const { g } = m;
  const lowering = loweringOf(t);
  if (lowering.kind === "addProduct") {
    return multiply(m, t, into, t.inputs.slice(1), lowering.attributes(t), "result");
  }
  const [cache, index, rows] = t.inputs as [Tensor, Tensor, Tensor];
  const depth = index.shape.at(-1)!;
  return single(g, into, t.op.name, (s) => {
    const name = s.leaf(g.resolve(index));
    const width = sizeOf(cache.shape.slice(depth));
    const body = apart(s, rows, "i");
    const count = sizeOf(index.shape) / depth;
    const shape = { count, width, lead: cache.shape.slice(0, depth) };
    return scatterKernel(shape, s.bound(t.dtype), name, body);
  });
}

export const addRows = (g: Graph, t: Tensor, into: Tensor): Work =>
  single(g, into, "addRows", (s) => {
    const [ids, rows] = t.inputs as [Tensor, Tensor];
    const name = s.leaf(g.resolve(ids));
    const body = apart(s, rows, "i");
    return addRowsKernel(sizeOf(ids.shape), sizeOf(t.shape.slice(1)), s.bound("float32", true), name, body);
  });
/** Everything that computes a value into its own buffer. */
export function compute(m: Making, t: Tensor): readonly Work[] {
  const { g } = m;
  const lowering = loweringOf(t);
  switch (lowering.kind) {
    case "map":
      return [map(g, t)];
    case "reduce":
      return [reduce(g, t, lowering)];
    case "product":
      return [multiply(m, t, t, t.inputs, lowering.attributes(t), "nothing")];
    case "addProduct": {
      const [residual, a, b] = t.inputs as [Tensor, Tensor, Tensor];
      return [multiply(m, t, t, [a, b, residual], lowering.attributes(t), "residual")];
    }
    case "rmsNorm":
      return [
        single(g, t, "rmsNorm", (s) => {
          const [x, weight] = t.inputs as [Tensor, Tensor];
          const width = x.shape.at(-1)!;
          const name = s.leaf(g.resolve(weight));
          const of = (at: string) => apart(s, x, at);
          of("0u"); // the buffers must be known before they are declared
          const shape = { rows: sizeOf(x.shape) / width, width, epsilon: lowering.epsilon(t) };
          return rmsNormKernel(shape, s.bound("float32"), name, of);
        }),
      ];
    case "softmax":
      return [
        single(g, t, "softmax", (s) => {
          const x = t.inputs[0]!;
          const width = x.shape.at(-1)!;
          const of = (at: string) => apart(s, x, at);
          of("0u");
          return softmaxKernel(sizeOf(x.shape) / width, width, s.bound("float32"), of);
        }),
      ];
    case "scatter":
      return [put(g, t.inputs[0]!, t, false), update(m, t, t)];
    case "addRows":
      return [zeros(g, t), addRows(g, t, t)];
    case "topIds":
      return [
        single(g, t, "topIds", (s) => {
          const x = t.inputs[0]!;
          const width = x.shape.at(-1)!;
          const name = s.leaf(g.resolve(x));
          return topIdsKernel(sizeOf(x.shape) / width, width, t.shape.at(-1)!, s.bound("int32"), name);
        }),
      ];
    case "drawIds":
      return [
        single(g, t, "drawIds", (s) => {
          const [p, u] = t.inputs as [Tensor, Tensor];
          const name = s.leaf(g.resolve(u));
          const body = apart(s, p, "i");
          return drawIdsKernel(sizeOf(u.shape), p.shape.at(-1)!, s.bound("int32"), name, body);
        }),
      ];
    case "attendOnce":
      return [
        single(g, t, "attendOnce", (s) => {
          const [q, k, v, mask] = t.inputs as [Tensor, Tensor, Tensor, Tensor];
          const [B, H, , d] = q.shape as [number, number, number, number];
          const [, G, T] = k.shape as [number, number, number];
          const names = [q, k, v].map((x) => s.leaf(g.resolve(x)));
          const body = apart(s, broadcastTo(mask, [B, H, 1, T]), "m");
          return attendOnceKernel(
            { B, H, G, T, d, scale: lowering.scale(t) },
            s.bound("float32"),
            names,
            body,
          );
        }),
      ];
    case "packedAttention": {
      const [q, k] = t.inputs as [Tensor, Tensor];
      const [B, H, T, d] = q.shape as [number, number, number, number];
      const shape = { B, H, G: k.shape[1]!, T, d, scale: lowering.scale(t) };
      const kernel = packedAttentionKernel(lowering.part, shape);
      const reads = t.inputs.map(g.resolve);
      return [
        { reads, into: t, emit: (place, out) => [step(t.op.name, kernel, [...reads.map(place), out])] },
      ];
    }
    default:
      throw new Error(`${t.op.name} is ${lowering.kind}`);
  }
}
