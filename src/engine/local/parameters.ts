/** The named weights of a decoder: names and shapes as Hugging Face's Llama has them, [out, in]. */
import type { Random } from "../../core/random.ts";
import type { DecoderConfig } from "./config.ts";

export type Weights = Map<string, Float32Array>;

export interface Parameter {
  readonly name: string;
  readonly shape: readonly number[];
  /** Standard deviation of its first values; 0 means all ones. */
  readonly deviation: number;
}

export function parametersOf(c: DecoderConfig): Parameter[] {
  const deviation = 0.02;
  // residual branches start smaller, so that depth does not grow the stream (GPT-2's rule)
  const residual = deviation / Math.sqrt(2 * c.layers);
  const out: Parameter[] = [
    { name: "model.embed_tokens.weight", shape: [c.vocabulary, c.width], deviation: 1 / Math.sqrt(c.width) },
  ];
  for (let i = 0; i < c.layers; i++) {
    const at = `model.layers.${i}`;
    const q = c.heads * c.headWidth;
    const kv = c.kvHeads * c.headWidth;
    out.push(
      { name: `${at}.input_layernorm.weight`, shape: [c.width], deviation: 0 },
      { name: `${at}.self_attn.q_proj.weight`, shape: [q, c.width], deviation: 1 / Math.sqrt(c.width) },
      { name: `${at}.self_attn.k_proj.weight`, shape: [kv, c.width], deviation: 1 / Math.sqrt(c.width) },
      { name: `${at}.self_attn.v_proj.weight`, shape: [kv, c.width], deviation },
      { name: `${at}.self_attn.o_proj.weight`, shape: [c.width, q], deviation: residual },
      { name: `${at}.post_attention_layernorm.weight`, shape: [c.width], deviation: 0 },
      { name: `${at}.mlp.gate_proj.weight`, shape: [c.feedForward, c.width], deviation },
      { name: `${at}.mlp.up_proj.weight`, shape: [c.feedForward, c.width], deviation },
      { name: `${at}.mlp.down_proj.weight`, shape: [c.width, c.feedForward], deviation: residual },
    );
  }
  out.push({ name: "model.norm.weight", shape: [c.width], deviation: 0 });
  if (!c.tied) out.push({ name: "lm_head.weight", shape: [c.vocabulary, c.width], deviation });
  return out;
}

export const sizeOfParameter = (p: Parameter): number => p.shape.reduce((a, b) => a * b, 1);

/** First weights, each parameter from its own stream. */
export function initialWeights(c: DecoderConfig, random: Random): Weights {
  return new Map(
    parametersOf(c).map((p) => {
      const stream = random.split(p.name);
      const values = new Float32Array(sizeOfParameter(p));
      return [p.name, p.deviation === 0 ? values.fill(1) : values.map(() => p.deviation * stream.normal())];
    }),
  );
}
