/** The named weights of a decoder, with Hugging Face's names and shapes: [out, in]. */
import type { Random } from "../../core/random.ts";
import type { DecoderConfig } from "./config.ts";

export type Weights = Map<string, Float32Array>;

export interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
  /** Initial values are normal with this mean and standard deviation. */
  readonly mean: number;
  readonly deviation: number;
}

/** Projections of a layer that can have an adapter. */
export const projections = [
  "q_proj",
  "k_proj",
  "v_proj",
  "o_proj",
  "gate_proj",
  "up_proj",
  "down_proj",
] as const;
export type Projection = (typeof projections)[number];

/** Low-rank additions to projections ("LoRA: Low-Rank Adaptation of Large Language Models"): W + alpha / rank · B A. */
export interface Adapter {
  readonly rank: number;
  readonly alpha: number;
  readonly targets: readonly Projection[];
}

/** Determines a model's graphs and its trainable weights. */
export interface Architecture {
  readonly config: DecoderConfig;
  /** If set, only the adapter and the value heads are trained. */
  readonly adapter?: Adapter;
  /** Names of value heads. */
  readonly heads: readonly string[];
}

const ones = { mean: 1, deviation: 0 };
const zeros = { mean: 0, deviation: 0 };
const normal = (deviation: number) => ({ mean: 0, deviation });

/** The full name of a projection, without ".weight". */
export const projectionName = (layer: number, projection: Projection): string =>
  `model.layers.${layer}.${/^[qkvo]_/.test(projection) ? "self_attn" : "mlp"}.${projection}`;

/** [out, in] of a projection. */
export function projectionShape(c: DecoderConfig, projection: Projection): readonly [number, number] {
  const q = c.heads * c.headWidth;
  const kv = c.kvHeads * c.headWidth;
  switch (projection) {
    case "q_proj":
      return [q, c.width];
    case "k_proj":
    case "v_proj":
      return [kv, c.width];
    case "o_proj":
      return [c.width, q];
    case "gate_proj":
    case "up_proj":
      return [c.feedForward, c.width];
    case "down_proj":
      return [c.width, c.feedForward];
  }
}

/** Whether a projection has a bias. */
export function hasBias(c: DecoderConfig, projection: Projection): boolean {
  if (projection === "o_proj") return c.bias.output;
  return /^[qkv]_/.test(projection) ? c.bias.qkv : c.bias.feedForward;
}

export function parametersOf(c: DecoderConfig): Parameter[] {
  const deviation = 0.02;
  const wide = 1 / Math.sqrt(c.width);
  // residual branches start smaller, so that depth does not grow the residual stream (GPT-2's rule)
  const residual = deviation / Math.sqrt(2 * c.layers);
  const first: Record<Projection, number> = {
    q_proj: wide,
    k_proj: wide,
    v_proj: deviation,
    o_proj: residual,
    gate_proj: deviation,
    up_proj: deviation,
    down_proj: residual,
  };
  const out: Parameter[] = [
    { name: "model.embed_tokens.weight", shape: [c.vocabulary, c.width], ...normal(wide) },
  ];
  for (let i = 0; i < c.layers; i++) {
    const projected = (...of: readonly Projection[]): Parameter[] =>
      of.flatMap((p) => {
        const name = projectionName(i, p);
        const shape = projectionShape(c, p);
        const weight = { name: `${name}.weight`, shape, ...normal(first[p]) };
        return hasBias(c, p) ? [weight, { name: `${name}.bias`, shape: [shape[0]], ...zeros }] : [weight];
      });
    const norm = (name: string, width: number): Parameter => ({
      name: `model.layers.${i}.${name}.weight`,
      shape: [width],
      ...ones,
    });
    out.push(
      norm("input_layernorm", c.width),
      ...projected("q_proj", "k_proj", "v_proj", "o_proj"),
      ...(c.qkNorm ? [norm("self_attn.q_norm", c.headWidth), norm("self_attn.k_norm", c.headWidth)] : []),
      norm("post_attention_layernorm", c.width),
      ...projected("gate_proj", "up_proj", "down_proj"),
    );
  }
  out.push({ name: "model.norm.weight", shape: [c.width], ...ones });
  if (!c.tied) out.push({ name: "lm_head.weight", shape: [c.vocabulary, c.width], ...normal(deviation) });
  return out;
}

/** An adapter's matrices: A [rank, in] starts random and B [out, rank] at zero, so that the initial output is unchanged. */
export function adapterParameters(c: DecoderConfig, adapter: Adapter): Parameter[] {
  return Array.from({ length: c.layers }, (_, i) =>
    projections
      .filter((p) => adapter.targets.includes(p))
      .flatMap((p): Parameter[] => {
        const name = projectionName(i, p);
        const [rows, columns] = projectionShape(c, p);
        return [
          {
            name: `${name}.lora_A.weight`,
            shape: [adapter.rank, columns],
            ...normal(1 / Math.sqrt(columns)),
          },
          { name: `${name}.lora_B.weight`, shape: [rows, adapter.rank], ...zeros },
        ];
      }),
  ).flat();
}

/** Linear layers on the last hidden state; initially 0. */
export const headParameters = (c: DecoderConfig, heads: readonly string[]): Parameter[] =>
  heads.flatMap((head) => [
    { name: `value_heads.${head}.weight`, shape: [1, c.width], ...zeros },
    { name: `value_heads.${head}.bias`, shape: [1], ...zeros },
  ]);

/** The parameters that an optimiser step changes. */
export function trainedParameters({ config, adapter, heads }: Architecture): Parameter[] {
  return [
    ...(adapter ? adapterParameters(config, adapter) : parametersOf(config)),
    ...headParameters(config, heads),
  ];
}

export function allParameters(a: Architecture): Parameter[] {
  return a.adapter ? [...parametersOf(a.config), ...trainedParameters(a)] : trainedParameters(a);
}

export const sizeOfParameter = (p: Parameter): number => p.shape.reduce((a, b) => a * b, 1);

/** Initial weights; each parameter has its own random stream. */
export function firstWeights(parameters: readonly Parameter[], random: Random): Weights {
  return new Map(
    parameters.map((p) => {
      const stream = random.split(p.name);
      const values = new Float32Array(sizeOfParameter(p));
      return [
        p.name,
        p.deviation === 0 ? values.fill(p.mean) : values.map(() => p.mean + p.deviation * stream.normal()),
      ];
    }),
  );
}

export const initialWeights = (c: DecoderConfig, random: Random): Weights =>
  firstWeights(parametersOf(c), random);

/** Parameters that are contiguous in memory, so that a graph can read them as one matrix. */
export interface Stack {
  readonly name: string;
  readonly shape: readonly number[];
  readonly parts: readonly string[];
}

export function stacksOf(c: DecoderConfig): Stack[] {
  const kv = c.kvHeads * c.headWidth;
  const rows = c.heads * c.headWidth + 2 * kv;
  return Array.from({ length: c.layers }, (_, i) => {
    const at = `model.layers.${i}`;
    const of = (kind: string): string[] => ["q", "k", "v"].map((x) => `${at}.self_attn.${x}_proj.${kind}`);
    return [
      { name: `${at}.self_attn.qkv_proj.weight`, shape: [rows, c.width], parts: of("weight") },
      ...(c.bias.qkv ? [{ name: `${at}.self_attn.qkv_proj.bias`, shape: [rows], parts: of("bias") }] : []),
      {
        name: `${at}.mlp.gate_up_proj.weight`,
        shape: [2 * c.feedForward, c.width],
        parts: [`${at}.mlp.gate_proj.weight`, `${at}.mlp.up_proj.weight`],
      },
    ];
  }).flat();
}

/** Whether graphs read gate and up projections as one matrix, as a GPU likes, or apart, as the CPU does. */
export type Layout = "apart" | "joined";

/** The stacks that graphs read, and differentiate, as one matrix. */
export function wholeStacks(a: Architecture, layout: Layout): Stack[] {
  const { config, adapter } = a;
  const adapted = (of: RegExp): boolean => adapter?.targets.some((p) => of.test(p)) ?? false;
  return stacksOf(config).filter(({ name }) =>
    name.includes("qkv_proj") ? !adapted(/^[qkv]_/) : layout === "joined" && isJoined(a),
  );
}

/** Whether gate and up projections can be one product. */
export const isJoined = ({ config, adapter }: Pick<Architecture, "config" | "adapter">): boolean =>
  !config.bias.feedForward && !(adapter?.targets.some((p) => p === "gate_proj" || p === "up_proj") ?? false);

/** The same values, with the parts of each stack contiguous in memory. Missing parts are left out. */
export function laidOut(c: DecoderConfig, weights: ReadonlyMap<string, Float32Array>): Weights {
  const out: Weights = new Map(weights);
  for (const { parts } of stacksOf(c)) {
    if (!parts.every((name) => weights.has(name))) continue;
    const whole = new Float32Array(parts.reduce((n, name) => n + weights.get(name)!.length, 0));
    let at = 0;
    for (const name of parts) {
      const from = weights.get(name)!;
      whole.set(from, at);
      out.set(name, whole.subarray(at, (at += from.length)));
    }
  }
  return out;
}

const knownFeeds = new WeakMap<Weights, Record<string, Float32Array>>();

/**
 * Every array that a graph may read by name: parameters and whole stacks. The same object for the same weights.
 * @param weights as `laidOut` returns them. Their arrays must stay; only the values in them may change.
 */
export function feedsOf(c: DecoderConfig, weights: Weights): Readonly<Record<string, Float32Array>> {
  const known = knownFeeds.get(weights);
  if (known) return known;
  const feeds = Object.fromEntries(weights);
  for (const { name, shape, parts } of stacksOf(c)) {
    const first = weights.get(parts[0]!);
    if (!first) continue;
    const length = shape.reduce((a, b) => a * b, 1);
    feeds[name] = new Float32Array(first.buffer as ArrayBuffer, first.byteOffset, length);
  }
  knownFeeds.set(weights, feeds);
  return feeds;
}
