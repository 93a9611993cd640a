import { z } from "zod";
import { type Id, succeeded, type Trajectory } from "../../../core/types.ts";
import type { ComparedExchanges, Exchanged } from "../../../helper/bradleyTerry.ts";
import type { ScoresOf } from "./verifiedReward.ts";

/** A right attempt and a wrong one at the same task, with the pair's weight. */
export interface ListPair<T> {
  readonly right: T;
  readonly wrong: T;
  readonly weight: number;
}

/**
 * The pairs of lists of attempts:
 *
 *     L = −Σ over lists of 1/(k (n − k)) Σ over right p and wrong q of ln σ(r(p) − r(q))          k of n attempts are right
 *
 * Every list weighs the same, however many pairs it has; lists in which all are right, or none, say nothing.
 */
export function listPairs<T>(lists: readonly (readonly T[])[], isRight: (one: T) => boolean): ListPair<T>[] {
  return lists.flatMap((list) => {
    const [right, wrong] = [list.filter(isRight), list.filter((one) => !isRight(one))];
    const weight = 1 / (right.length * wrong.length);
    return right.flatMap((p) => wrong.map((q) => ({ right: p, wrong: q, weight })));
  });
}

/**
 * A reward model that learns from what the verifier says of the policy's own attempts: each iteration it is fitted to the pairs of all
 * lists so far, then scores the new attempts. A list is the attempts at one task in one iteration. The run's memory keeps the pairs.
 * @param helper its name. @param keep number of most recent pairs.
 */
export function listwiseScores(helper = "reward", keep = 4000): ScoresOf {
  const key = `listwiseScores ${helper}`;
  return async (ctx, trajectories) => {
    const model = ctx.helper<ComparedExchanges, number | null, number>(helper);
    const lists = [...Map.groupBy(trajectories, ({ task }) => task).values()];
    const now = listPairs(lists, succeeded).map(({ right, wrong, weight }) => ({
      first: exchangeOf(right),
      second: exchangeOf(wrong),
      weight,
    }));
    const pairs = [...kept.parse(ctx.memory.get(key) ?? []), ...now].slice(-keep);
    ctx.memory.set(
      key,
      pairs.map(({ first, second, weight }) => ({ first: { ...first }, second: { ...second }, weight })),
    );
    await model.fit(pairs.map(({ weight, ...x }) => ({ x, y: 1, weight })));
    const scores = await model.predict(trajectories.map((t) => ({ first: exchangeOf(t) })));
    return new Map(
      trajectories.flatMap(({ id }, i): (readonly [Id, number])[] =>
        Number.isNaN(scores[i]!) ? [] : [[id, scores[i]!]],
      ),
    );
  };
}

function exchangeOf({ turns }: Trajectory): Exchanged {
  const turn = turns.at(-1);
  return { asked: turn?.prompt.at(-1)?.content ?? "", replied: turn?.action.content ?? "" };
}

const exchange = z.object({ asked: z.string(), replied: z.string() });
/** Schema of the pairs in the run's memory. */
const kept = z.array(z.object({ first: exchange, second: exchange, weight: z.number() }));
