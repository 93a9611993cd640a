import { constant, type Tensor } from "../../tensor/graph.ts";
import type { DecoderConfig, RopeScaling } from "./config.ts";

/** Radians per position for each pair of dimensions, [headWidth / 2]. */
export function rotaryFrequencies(c: DecoderConfig): number[] {
  const half = c.headWidth / 2;
  const plain = Array.from({ length: half }, (_, j) => c.ropeTheta ** (-j / half));
  return c.ropeScaling ? stretched(plain, c, c.ropeScaling) : plain;
}

function stretched(plain: readonly number[], c: DecoderConfig, s: RopeScaling): number[] {
  switch (s.type) {
    case "linear":
      return plain.map((f) => f / s.factor);
    // low frequencies are stretched, high ones kept, with a ramp over wavelengths between (Llama 3.1)
    case "llama3":
      return plain.map((f) => {
        const turns = (s.originalTokens * f) / (2 * Math.PI);
        if (turns > s.highFrequency) return f;
        if (turns < s.lowFrequency) return f / s.factor;
        const keep = (turns - s.lowFrequency) / (s.highFrequency - s.lowFrequency);
        return (1 - keep) * (f / s.factor) + keep * f;
      });
    // the same idea with a ramp over dimensions ("YaRN: Efficient Context Window Extension of Large Language Models")
    case "yarn": {
      const dimension = (turns: number): number =>
        (c.headWidth * Math.log(s.originalTokens / (turns * 2 * Math.PI))) / (2 * Math.log(c.ropeTheta));
      const [low, high] = [dimension(s.betaFast), dimension(s.betaSlow)];
      const from = Math.max(s.truncate ? Math.floor(low) : low, 0);
      const to = Math.min(s.truncate ? Math.ceil(high) : high, c.headWidth - 1);
      return plain.map((f, j) => {
        const ramp = Math.min(1, Math.max(0, (j - from) / (from === to ? 0.001 : to - from)));
        return ramp * (f / s.factor) + (1 - ramp) * f;
      });
    }
  }
}

/** Cosines and sines by position, computed up to the largest position requested so far; row-major [positions, headWidth / 2]. */
export interface RotaryTable {
  /** Values at a list of positions, [positions · headWidth / 2] each. */
  rows(positions: Int32Array): { readonly cos: Float32Array; readonly sin: Float32Array };
}

export function rotaryTable(c: DecoderConfig): RotaryTable {
  const frequencies = rotaryFrequencies(c);
  const half = frequencies.length;
  const size = c.ropeScaling?.type === "yarn" ? c.ropeScaling.attention : 1;
  const make = (count: number, f: (x: number) => number): Float32Array =>
    Float32Array.from(
      { length: count * half },
      (_, i) => size * f(Math.floor(i / half) * frequencies[i % half]!),
    );
  let known = 0;
  let cos: Float32Array = new Float32Array();
  let sin: Float32Array = new Float32Array();
  const rowsFrom = (table: Float32Array, positions: Int32Array): Float32Array => {
    const out = new Float32Array(positions.length * half);
    // a view for each position would take longer than the numbers
    for (let i = 0, at = 0; i < positions.length; i++) {
      const from = positions[i]! * half;
      for (let j = 0; j < half; j++) out[at++] = table[from + j]!;
    }
    return out;
  };
  return {
    rows(positions) {
      const most = positions.reduce((a, b) => Math.max(a, b), 0) + 1;
      if (most > known) {
        known = Math.max(256, 2 ** Math.ceil(Math.log2(most)));
        cos = make(known, Math.cos);
        sin = make(known, Math.sin);
      }
      return { cos: rowsFrom(cos, positions), sin: rowsFrom(sin, positions) };
    },
  };
}

/** Cosines and sines of positions 0 … count − 1, [count, headWidth / 2] each, as nodes of a graph. */
export function rotaryTables(c: DecoderConfig, count: number): { cos: Tensor; sin: Tensor } {
  const { cos, sin } = rotaryTable(c).rows(Int32Array.from({ length: count }, (_, i) => i));
  const shape = [count, c.headWidth / 2];
  return { cos: constant(cos, shape), sin: constant(sin, shape) };
}
