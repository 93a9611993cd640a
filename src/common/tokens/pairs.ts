/**
 * Pairs in a packed batch. An estimator writes comparisons as numbered columns with {@link pairColumns}; an objective
 * reads the pairs back with {@link pairsOf}. A trajectory may be in many pairs:
 * its first has column `pair.0`, its second `pair.1`, and so on.
 */
import type { Batch } from "../../core/batch.ts";
import type { Advantages } from "../../core/slots.ts";
import type { Id, Ref, Task, Trajectory } from "../../core/types.ts";
import { tokenRange } from "./tokenRanges.ts";

/** A task with two trajectories of which one is known to be better. */
export interface TrajectoryPair {
  readonly id: Id;
  readonly task: Task;
  readonly chosen: Trajectory;
  readonly rejected: Trajectory;
  /** Labels that group pairs in a report, e.g. `family` and `source`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** A preference between two trajectories. */
export interface Comparison {
  readonly chosen: Ref;
  readonly rejected: Ref;
  /** Probability that the chosen one is truly preferred, in [0, 1]: 1 for a hard label. */
  readonly strength: number;
}

/** A pair as a batch holds it. */
export interface Pair {
  /** From 1, unique within the experience. */
  readonly number: number;
  readonly strength: number;
  /** Targets of the chosen side: indices into the arrays over A. */
  readonly chosen: readonly number[];
  readonly rejected: readonly number[];
}

/** Column with the number of a token's k-th pair: negative on the rejected side, NaN where the token has no k-th pair. */
const numberColumn = (k: number): string => `pair.${k}`;
const strengthColumn = (k: number): string => `pair.${k}.strength`;

/**
 * The columns of some comparisons, one number per action token of each compared trajectory.
 * @param counts which action tokens of a trajectory belong to its pairs. Default: all.
 */
export function pairColumns(
  trajectories: readonly Trajectory[],
  comparisons: readonly Comparison[],
  counts: (t: Trajectory) => (a: number) => boolean = () => () => true,
): Readonly<Record<string, Advantages>> {
  const byId = new Map(trajectories.map((t) => [t.id, t]));
  const places = new Map<Id, number>();
  const columns: Record<string, Map<Id, Float32Array>> = {};
  const write = (at: Ref, number: number, strength: number): void => {
    const t = byId.get(at.trajectory);
    if (!t) return;
    const k = places.get(t.id) ?? 0;
    places.set(t.id, k + 1);
    const [, length] = tokenRange(t, { trajectory: t.id });
    const [from, to] = tokenRange(t, at);
    const counted = counts(t);
    for (const [name, value] of [
      [numberColumn(k), number],
      [strengthColumn(k), strength],
    ] as const) {
      const own = new Float32Array(length).fill(Number.NaN);
      for (let a = from; a < to; a++) if (counted(a)) own[a] = value;
      (columns[name] ??= new Map()).set(t.id, own);
    }
  };
  comparisons.forEach(({ chosen, rejected, strength }, i) => {
    write(chosen, i + 1, strength);
    write(rejected, -(i + 1), strength);
  });
  return columns;
}

/** The pairs of a batch, by number. A pair is left out where a side is missing or has no token with a weight. */
export function pairsOf(batch: Batch): Pair[] {
  const found = new Map<number, { strength: number; chosen: number[]; rejected: number[] }>();
  for (let k = 0; ; k++) {
    const number_A = batch.columns[numberColumn(k)];
    const strength_A = batch.columns[strengthColumn(k)];
    if (!number_A || !strength_A) break;
    for (let a = 0; a < number_A.length; a++) {
      const number = number_A[a]!;
      if (Number.isNaN(number) || batch.weight_A[a] === 0) continue;
      const known = found.get(Math.abs(number));
      const pair = known ?? { strength: strength_A[a]!, chosen: [], rejected: [] };
      if (!known) found.set(Math.abs(number), pair);
      (number > 0 ? pair.chosen : pair.rejected).push(a);
    }
  }
  return [...found]
    .filter(([, { chosen, rejected }]) => chosen.length > 0 && rejected.length > 0)
    .sort(([a], [b]) => a - b)
    .map(([number, pair]) => ({ number, ...pair }));
}
