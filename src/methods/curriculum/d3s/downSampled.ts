import { moments } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { randomStream } from "../../../core/random.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id, Trajectory } from "../../../core/types.ts";

/** Settings of {@link downSampled}. */
export interface DownSampledOptions {
  /** Share of a group's attempts that are trained on at first, in (0, 1]. Default 0.25. */
  readonly attempts?: number;
  /** Share of the kept attempts' tokens that are trained on at first, in (0, 1]. Default 0.2. */
  readonly tokens?: number;
  /** Iterations over which both shares rise to 1, linearly. Default: never. */
  readonly relaxOver?: number;
  /** Which attempts are kept: those of the largest variance, or any. Default "varied". */
  readonly by?: "varied" | "random";
}

/** Column with 1 for each token that is trained on, and 0 for the others. */
export const keptColumn = "kept";

/**
 * Dynamic dual-level down-sampling of the advantages of the earlier estimators in the list. They stay as they are: mean and
 * deviation are those of the whole group.
 *
 *     attempts: S = argmax over |S| = n of Var{A[i], i in S}, in each group
 *     tokens:   the share ρ with the largest |A[i]| · H[i, t], over all kept attempts     H: the sampler's entropy
 *     at iteration s:  n = ⌈(n₀ + (1 − n₀) p) G⌉,  ρ = ρ₀ + (1 − ρ₀) p,  p = min(1, s / relaxOver)
 *
 * Groups without any advantage are dropped first, so that their zeros fill no share. An attempt's advantage is its first
 * token's. Attempts that are not kept are absent; tokens that are not kept have 0 in {@link keptColumn}. A sampler that
 * returns no entropy counts as one of entropy 1 at every token. Stats: keptAttempts and keptTokens, shares of all.
 * Paper: "Learning More with Less: A Dynamic Dual-Level Down-Sampling Framework for Efficient Policy Optimization".
 */
export function downSampled(options: DownSampledOptions = {}): Advantage<number> {
  const { attempts = 0.25, tokens = 0.2, relaxOver = Number.POSITIVE_INFINITY, by = "varied" } = options;
  return {
    name: "downSampled",
    init: () => 0,
    apply: ({ trajectories, units }, iteration, soFar) => {
      const progress = Math.min(1, iteration / relaxOver);
      const byId = mapById(trajectories);
      const kept: { t: Trajectory; own: Float32Array }[] = [];
      let all = 0;
      let allTokens = 0;
      for (const group of Map.groupBy(units, (unit) => unit.group).values()) {
        const members = group.flatMap((unit) =>
          unit.members.flatMap((id) => {
            const [t, own] = [byId.get(id), soFar?.get(id)];
            return t && own && own.length > 0 ? [{ t, own }] : [];
          }),
        );
        all += members.length;
        for (const { own } of members) allTokens += own.length;
        if (members.every(({ own }) => own.every((a) => a === 0))) continue;
        const count = Math.ceil(rising(attempts, progress) * members.length);
        const values = members.map(({ own }) => own[0]!);
        const chosen = by === "varied" ? mostVaried(values, count) : anyOf(members, count);
        kept.push(...chosen.map((i) => members[i]!));
      }
      const mask = mostWeighty(kept, rising(tokens, progress));
      const keptTokens = [...mask.values()].reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0);
      return {
        advantages: new Map(kept.map(({ t, own }) => [t.id, own])),
        columns: { [keptColumn]: mask },
        next: iteration + 1,
        stats: all === 0 ? {} : { keptAttempts: kept.length / all, keptTokens: keptTokens / allTokens },
      };
    },
  };
}

const rising = (first: number, progress: number): number => first + (1 - first) * progress;

/**
 * Indices of the `count` values with the largest variance: the j highest and count − j lowest, for the best j. Of equal
 * variances the one with more high values wins; of equal values the earlier index.
 */
export function mostVaried(values: readonly number[], count: number): number[] {
  const order = [...values.keys()].sort((a, b) => values[b]! - values[a]! || a - b);
  const n = Math.min(count, order.length);
  let best: number[] = [];
  let most = Number.NEGATIVE_INFINITY;
  for (let high = n; high >= 0; high--) {
    const low = n - high;
    const chosen = [...order.slice(0, high), ...order.slice(order.length - low)];
    const spread = moments(chosen.map((i) => values[i]!)).deviation;
    if (spread <= most) continue;
    most = spread;
    best = chosen;
  }
  return best.toSorted((a, b) => a - b);
}

/** Indices of `count` members, drawn by their ids alone. */
function anyOf(members: readonly { readonly t: Trajectory }[], count: number): number[] {
  const draws = members.map(({ t }) => randomStream("downSampled").split(t.id).next());
  return [...draws.keys()].sort((a, b) => draws[a]! - draws[b]!).slice(0, count);
}

/** For each attempt, 1 at the tokens among the share with the largest |A| · H of all; ties go to the earlier ones. */
function mostWeighty(
  kept: readonly { readonly t: Trajectory; readonly own: Float32Array }[],
  share: number,
): Map<Id, Float32Array> {
  const places = kept.flatMap(({ t, own }) => {
    const entropy = t.turns.flatMap(({ tokens }) =>
      [...(tokens?.action ?? [])].map((_, i) => tokens!.entropy?.[i] ?? 1),
    );
    return [...own].map((a, at) => ({ id: t.id, at, score: Math.abs(a) * entropy[at]! }));
  });
  const mask = new Map(kept.map(({ t, own }) => [t.id, new Float32Array(own.length)]));
  const count = Math.ceil(share * places.length);
  for (const { id, at } of places.toSorted((a, b) => b.score - a.score).slice(0, count))
    mask.get(id)![at] = 1;
  return mask;
}
