/** A population of instructions: drawing, weighting by recent reward, and replacement. */
import type { Random } from "../../core/random.ts";
import type { Id } from "../../core/types.ts";

export interface Instruction {
  readonly id: Id;
  readonly text: string;
  /** w, an exponential moving average of its rewards. */
  readonly weight: number;
  /** Number of groups that it was drawn for. */
  readonly draws: number;
  /** Trajectories that the proposer read; empty for an initial instruction. */
  readonly from: readonly Id[];
}

/** Settings of {@link chancesOf}. */
export interface DrawOptions {
  /** τ, in units of the reward; Infinity draws uniformly. Default 0.1. */
  readonly temperature?: number;
  /** Share that is drawn uniformly, so that new instructions are tried. Default 0.1. */
  readonly floor?: number;
}

/** Probability of each instruction: `(1 − floor) · exp(w / τ) / Σ exp(w / τ) + floor / N`. */
export function chancesOf(
  members: readonly Instruction[],
  { temperature = 0.1, floor = 0.1 }: DrawOptions = {},
): readonly number[] {
  const highest = Math.max(...members.map(({ weight }) => weight));
  const odds = members.map(({ weight }) => Math.exp((weight - highest) / temperature));
  const sum = odds.reduce((a, b) => a + b, 0);
  return odds.map((odd) => ((1 - floor) * odd) / sum + floor / members.length);
}

/** Draws one instruction by its probability. Needs at least one member. */
export function drawnFrom(
  members: readonly Instruction[],
  random: Random,
  options: DrawOptions = {},
): Instruction {
  const chances = chancesOf(members, options);
  let left = random.next();
  const at = chances.findIndex((chance) => (left -= chance) < 0);
  return members[at === -1 ? members.length - 1 : at]!;
}

/**
 * Credits a group's rewards to its instruction: `w ← (1 − η) w + η · mean reward`, and one more draw. Recent rewards weigh
 * most, since the policy changes.
 */
export const credited = (
  members: readonly Instruction[],
  id: Id,
  reward: number,
  rate: number,
): readonly Instruction[] =>
  members.map((one) =>
    one.id === id ? { ...one, weight: (1 - rate) * one.weight + rate * reward, draws: one.draws + 1 } : one,
  );

/**
 * Replaces the worst instructions, one per newcomer, among those drawn often enough, lowest weight first. Newcomers without
 * a free place, and duplicates of existing texts, are dropped. Newcomers start with the mean weight.
 */
export function replaced(
  members: readonly Instruction[],
  newcomers: readonly Pick<Instruction, "id" | "text" | "from">[],
  leastDraws: number,
): readonly Instruction[] {
  const known = new Set(members.map(({ text }) => text));
  const fresh = newcomers.filter(({ text }) => !known.has(text) && known.add(text));
  const tried = members.filter(({ draws }) => draws >= leastDraws).toSorted((a, b) => a.weight - b.weight);
  const gone = new Set(tried.slice(0, Math.min(fresh.length, members.length - 1)).map(({ id }) => id));
  const stay = members.filter(({ id }) => !gone.has(id));
  const weight = members.reduce((sum, one) => sum + one.weight, 0) / members.length;
  return [...stay, ...fresh.slice(0, gone.size).map((one) => ({ ...one, weight, draws: 0 }))];
}
