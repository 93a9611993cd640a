/** A second implementation of the decoder, one position at a time in float64: slow and simple, as a reference. */
import type { TokenRows } from "../../../src/core/batch.ts";
import { rowCount } from "../../../src/core/batch.ts";
import type { DecoderConfig } from "../../../src/engine/local/config.ts";

export type Numbers = ReadonlyMap<string, ArrayLike<number>>;

/** w x, with w of shape [out, in]. */
function times(w: ArrayLike<number>, x: readonly number[]): number[] {
  const out: number[] = [];
  for (let o = 0; o * x.length < w.length; o++) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += w[o * x.length + i]! * x[i]!;
    out.push(sum);
  }
  return out;
}

function normed(x: readonly number[], weight: ArrayLike<number>, epsilon: number): number[] {
  const square = x.reduce((s, v) => s + v * v, 0) / x.length;
  return x.map((v, i) => (v / Math.sqrt(square + epsilon)) * weight[i]!);
}

/** Rotates the pairs (j, j + half) of every head by the angles of a position. */
function turned(c: DecoderConfig, x: readonly number[], position: number): number[] {
  const half = c.headWidth / 2;
  return x.map((v, i) => {
    const j = i % c.headWidth;
    const angle = position / c.ropeTheta ** ((2 * (j % half)) / c.headWidth);
    return j < half
      ? v * Math.cos(angle) - x[i + half]! * Math.sin(angle)
      : v * Math.cos(angle) + x[i - half]! * Math.sin(angle);
  });
}

const dot = (x: readonly number[], y: readonly number[]): number => x.reduce((s, v, i) => s + v * y[i]!, 0);

function softmax(x: readonly number[]): number[] {
  const top = Math.max(...x);
  const e = x.map((v) => Math.exp(v - top));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((v) => v / sum);
}

/** ln p of every id after every position, [tokens][vocabulary]. */
export function referenceLogp(c: DecoderConfig, weights: Numbers, tokens: ArrayLike<number>): number[][] {
  const w = (name: string): ArrayLike<number> => weights.get(`${name}.weight`)!;
  const keys: number[][][] = Array.from({ length: c.layers }, () => []);
  const values: number[][][] = Array.from({ length: c.layers }, () => []);
  return Array.from(tokens, (token, position) => {
    let x = Array.from({ length: c.width }, (_, i) => w("model.embed_tokens")[token * c.width + i]!);
    for (let layer = 0; layer < c.layers; layer++) {
      const of = (name: string): ArrayLike<number> => w(`model.layers.${layer}.${name}`);
      const h = normed(x, of("input_layernorm"), c.epsilon);
      const q = turned(c, times(of("self_attn.q_proj"), h), position);
      keys[layer]!.push(turned(c, times(of("self_attn.k_proj"), h), position));
      values[layer]!.push(times(of("self_attn.v_proj"), h));
      const read: number[] = [];
      for (let head = 0; head < c.heads; head++) {
        const part = (v: readonly number[], at: number) => v.slice(at * c.headWidth, (at + 1) * c.headWidth);
        const kvHead = Math.floor(head / (c.heads / c.kvHeads));
        const p = softmax(
          keys[layer]!.map((k) => dot(part(q, head), part(k, kvHead)) / Math.sqrt(c.headWidth)),
        );
        for (let i = 0; i < c.headWidth; i++) {
          read.push(p.reduce((s, v, at) => s + v * part(values[layer]![at]!, kvHead)[i]!, 0));
        }
      }
      const mixed = times(of("self_attn.o_proj"), read);
      x = x.map((v, i) => v + mixed[i]!);
      const m = normed(x, of("post_attention_layernorm"), c.epsilon);
      const up = times(of("mlp.up_proj"), m);
      const gated = times(of("mlp.gate_proj"), m).map((g, i) => (g / (1 + Math.exp(-g))) * up[i]!);
      const down = times(of("mlp.down_proj"), gated);
      x = x.map((v, i) => v + down[i]!);
    }
    const last = normed(x, w("model.norm"), c.epsilon);
    return softmax(times(w(c.tied ? "model.embed_tokens" : "lm_head"), last)).map(Math.log);
  });
}

/** The expected result of `score`, in float64. */
export function referenceScore(
  c: DecoderConfig,
  weights: Numbers,
  rows: TokenRows,
): { logp: number[]; entropy: number[] } {
  const logp: number[] = [];
  const entropy: number[] = [];
  for (let r = 0; r < rowCount(rows); r++) {
    const from = rows.rowOffset[r]!;
    const tokens = rows.tokens_N.subarray(from, rows.rowOffset[r + 1]!);
    const all = referenceLogp(c, weights, tokens);
    for (let a = rows.targetOffset[r]!; a < rows.targetOffset[r + 1]!; a++) {
      const p = rows.target_A[a]! - from;
      const row = all[p - 1]!;
      logp.push(row[tokens[p]!]!);
      entropy.push(-row.reduce((s, v) => s + Math.exp(v) * v, 0));
    }
  }
  return { logp, entropy };
}
