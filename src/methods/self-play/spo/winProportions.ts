import { mapById } from "../../../common/mapById.ts";
import { type Able, evaluatorIn } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link winProportions}. */
export interface WinProportionsOptions {
  /** Default: the environment. */
  readonly evaluator?: Able<"compare">;
  /** "expected": the evaluator's probability counts. "drawn": one vote with that probability, 1 or 0. Default "expected". */
  readonly votes?: "expected" | "drawn";
}

/**
 * The share of the other attempts of its group that an attempt beats, as its reward. Every pair is compared once, and the comparison
 * counts for both sides:
 *
 *     r[i] = 1/(k − 1) Σ_{j ≠ i} P(y_i ≻ y_j),        P(y_j ≻ y_i) = 1 − P(y_i ≻ y_j)
 *
 * so that the mean of a group is 1/2, whatever the votes. k (k − 1)/2 comparisons per group. A comparison on which the evaluator
 * fails is left out on both sides; an attempt without any, such as one that is alone, gets no reward.
 * Paper: "A Minimaximalist Approach to Reinforcement Learning from Human Feedback".
 */
export function winProportions({ evaluator, votes = "expected" }: WinProportionsOptions = {}): Feedback {
  return async (ctx, { trajectories, units }) => {
    const { compare } = evaluatorIn(ctx, evaluator ?? ctx.environment);
    const byId = mapById(trajectories);
    const groups = Map.groupBy(units, ({ group }) => group);
    const compared = [...groups.values()].map(async (group) => {
      const members = group.flatMap((unit) => unit.members.flatMap((id) => byId.get(id) ?? []));
      const pairs = members.flatMap((first, i) =>
        members.slice(i + 1).map((second) => [first, second] as const),
      );
      return Promise.all(
        pairs.map(async ([first, second]) => {
          const random = ctx.random.split("winProportions", first.id, second.id);
          const p = await compare(first, second, random.split("compare"));
          const vote = p === undefined || votes === "expected" ? p : Number(random.split("vote").next() < p);
          return { first: first.id, second: second.id, vote };
        }),
      );
    });
    const shares = new Map<Id, number[]>();
    const add = (id: Id, won: number): void => void shares.set(id, [...(shares.get(id) ?? []), won]);
    for (const { first, second, vote } of (await Promise.all(compared)).flat()) {
      if (vote === undefined) continue;
      add(first, vote);
      add(second, 1 - vote);
    }
    return [...shares].map(
      ([id, won]): Signal => ({
        kind: "reward",
        channel: "outcome",
        about: [{ trajectory: id }],
        value: won.reduce((a, b) => a + b, 0) / won.length,
        source: evaluator?.name ?? "environment",
      }),
    );
  };
}
