/** Names and layouts of a model's tensors in GGUF files, as llama.cpp's converter writes them. */
import type { DecoderConfig } from "../config.ts";

const layerNames: Readonly<Record<string, string>> = {
  input_layernorm: "attn_norm",
  "self_attn.q_proj": "attn_q",
  "self_attn.k_proj": "attn_k",
  "self_attn.v_proj": "attn_v",
  "self_attn.o_proj": "attn_output",
  "self_attn.q_norm": "attn_q_norm",
  "self_attn.k_norm": "attn_k_norm",
  post_attention_layernorm: "ffn_norm",
  "mlp.gate_proj": "ffn_gate",
  "mlp.up_proj": "ffn_up",
  "mlp.down_proj": "ffn_down",
};

const otherNames: Readonly<Record<string, string>> = {
  "model.embed_tokens.weight": "token_embd.weight",
  "model.norm.weight": "output_norm.weight",
  "lm_head.weight": "output.weight",
};

/** The name in GGUF of a parameter of `parametersOf`. */
export function ggufName(parameter: string): string {
  const layer = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(parameter);
  const name = layer ? layerNames[layer[2]!] : otherNames[parameter];
  if (name === undefined) throw new Error(`no GGUF name of ${parameter}`);
  return layer ? `blk.${layer[1]}.${name}.${layer[3]}` : name;
}

/** Rotary angles' divisors, one for each pair of a head's dimensions. */
export const ropeFactors = "rope_freqs.weight";

/**
 * Heads whose rows are in another order, or undefined. For these families llama.cpp turns neighbouring dimensions
 * together, where Hugging Face's layout turns those half a head apart.
 */
export function turnedHeads(c: DecoderConfig, parameter: string): number | undefined {
  if (c.family !== "llama" && c.family !== "smollm3") return undefined;
  if (/\.self_attn\.q_proj\./.test(parameter)) return c.heads;
  return /\.self_attn\.k_proj\./.test(parameter) ? c.kvHeads : undefined;
}

/**
 * Moves the rows of each head between the two orders: half a head apart, or side by side.
 * @param values [heads · 2 · half, columns]. @param to the order wanted.
 */
export function reorderHeads(
  values: Float32Array,
  heads: number,
  rows: number,
  to: "halves" | "pairs",
): Float32Array {
  const columns = values.length / rows;
  const half = rows / heads / 2;
  const out = new Float32Array(values.length);
  for (let h = 0; h < heads; h++) {
    for (let part = 0; part < 2; part++) {
      for (let j = 0; j < half; j++) {
        const apart = (2 * h + part) * half + j;
        const beside = 2 * (h * half + j) + part;
        const [from, into] = to === "halves" ? [beside, apart] : [apart, beside];
        out.set(values.subarray(from * columns, (from + 1) * columns), into * columns);
      }
    }
  }
  return out;
}
