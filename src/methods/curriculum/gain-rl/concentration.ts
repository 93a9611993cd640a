import { pairRows } from "../../../common/tokens/pack.ts";
import type { TokenRows } from "../../../core/batch.ts";
import type { Model } from "../../../core/model.ts";
import type { Id, Task } from "../../../core/types.ts";

/** Hidden states of the tokens of one sequence, [tokens, width] row-major. */
export interface States {
  readonly of: Float32Array;
  readonly width: number;
}

/** Sum of u_i = h_i / |h_i| over the tokens from `from` up to but not including `to`, [width]. States of length 0 add nothing. */
function direction({ of, width }: States, from: number, to: number): Float64Array {
  const sum = new Float64Array(width);
  for (let i = from; i < to; i++) {
    const state = of.subarray(i * width, (i + 1) * width);
    const length = Math.hypot(...state);
    if (length > 0) for (let d = 0; d < width; d++) sum[d]! += state[d]! / length;
  }
  return sum;
}

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, x, d) => sum + x * b[d]!, 0);

/**
 * Mean cosine of two different tokens among those from `from` up to but not including `to`:
 *
 *     mean over i < j of ⟨u_i, u_j⟩ = (|Σ u_i|² − n) / (n (n − 1)),   u_i = h_i / |h_i|
 *
 * A token with itself is no pair: those would favour short prompts. 0 for fewer than two tokens.
 */
export function cosineWithin(states: States, from: number, to: number): number {
  const n = to - from;
  if (n < 2) return 0;
  const sum = direction(states, from, to);
  return (dot(sum, sum) - n) / (n * (n - 1));
}

/** Mean cosine of a token before `middle`, from `from` on, and one from `middle` up to but not including `to`; 0 where a side is empty. */
export function cosineAcross(states: States, from: number, middle: number, to: number): number {
  if (middle <= from || to <= middle) return 0;
  const [left, right] = [direction(states, from, middle), direction(states, middle, to)];
  return dot(left, right) / ((middle - from) * (to - middle));
}

/** Number of tokens with which all sequences begin alike, or end alike with `end`. */
export function shared(sequences: readonly Int32Array[], side: "start" | "end" = "start"): number {
  const [first, ...others] = sequences;
  if (!first) return 0;
  const at = (ids: Int32Array, i: number): number | undefined =>
    ids.at(side === "start" ? i : ids.length - 1 - i);
  let count = 0;
  while (
    count < first.length &&
    others.every((ids) => ids.length > count && at(ids, count) === at(first, count))
  )
    count++;
  return count;
}

/**
 * Angle concentration of each prompt under a model's hidden states: C = within + weight · across, where
 *
 *     within: mean cosine of two tokens of the question;   across: of a token of the question and one of the shared prefix
 *
 * The shared prefix is what all prompts begin with, but for its first token, which marks a beginning; what they all end with, such
 * as the reply's marker, is left out. Ids in one order are the tasks' own.
 * Paper: "Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals".
 */
export async function concentrations(
  model: Pick<Model, "codec" | "score">,
  tasks: readonly Task[],
  { layer, across }: { readonly layer: number; readonly across: number },
): Promise<ReadonlyMap<Id, number>> {
  const prompts = tasks.map(({ prompt }) => model.codec.open(prompt));
  const start = tasks.length > 1 ? shared(prompts) : 0;
  const end = tasks.length > 1 ? shared(prompts, "end") : 0;
  const states = await statesOf(model, prompts, layer);
  return new Map(
    tasks.map(({ id }, i) => {
      const to = Math.max(start, prompts[i]!.length - end);
      const within = cosineWithin(states[i]!, start, to);
      return [id, within + across * cosineAcross(states[i]!, 1, start, to)];
    }),
  );
}

/** The hidden states of every token of each sequence. */
export async function statesOf(
  { codec, score }: Pick<Model, "codec" | "score">,
  sequences: readonly Int32Array[],
  layer: number,
): Promise<States[]> {
  if (sequences.length === 0) return [];
  const rows = everyToken(sequences, codec.endId);
  const states = (await score(rows, { hidden: [layer] })).hidden![0]!;
  const width = states.length / rows.target_A.length;
  return sequences.map((_, r) => ({
    of: states.subarray(rows.targetOffset[r]! * width, rows.targetOffset[r + 1]! * width),
    width,
  }));
}

/** Rows in which the context of each target ends at one token of the sequence; another token follows, so that the last one counts. */
const everyToken = (sequences: readonly Int32Array[], next: number): TokenRows =>
  pairRows(
    sequences.map((ids) => ({ prompt: ids.slice(0, 1), target: Int32Array.of(...ids.subarray(1), next) })),
  );
