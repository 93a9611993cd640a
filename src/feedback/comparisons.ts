import { mapById } from "../common/mapById.ts";
import type { Ctx } from "../core/context.ts";
import { type Able, type Evaluator, evaluatorIn } from "../core/evaluator.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import type { Trajectory } from "../core/types.ts";

/** Settings of {@link comparisons}. */
export interface ComparisonsOptions {
  /** Default: the environment. */
  readonly evaluator?: Able<"compare">;
  /**
   * Pairs within a group. "neighbours": the first with the second, the third with the fourth…, so that pairs are independent;
   * a leftover attempt is not compared. "all": every pair. "extremes": the attempt with the highest mean preference against
   * the one with the lowest. Default "neighbours".
   */
  readonly pairs?: "neighbours" | "all" | "extremes";
  /**
   * "drawn": one label, sampled with the evaluator's probability. "likelier": the likelier one wins, and a tie gives no signal.
   * "expected": the likelier one wins, and the signal's value is its probability; a tie is a win of the first with value 1/2.
   * Default "drawn".
   */
  readonly label?: "drawn" | "likelier" | "expected";
  /** Default "preference". */
  readonly channel?: string;
}

/**
 * Asks an evaluator which of two attempts at a task is better: one `preference` signal for each compared pair. A group of
 * one, and a pair on which the evaluator fails, give none.
 */
export function comparisons(options: ComparisonsOptions = {}): Feedback {
  const { evaluator, pairs = "neighbours", label = "drawn", channel = "preference" } = options;
  return async (ctx, { trajectories, units }) => {
    const compare = comparingIn(ctx, evaluator ?? ctx.environment);
    const byId = mapById(trajectories);
    const groups = Map.groupBy(units, (u) => u.group);
    const judged = await Promise.all(
      [...groups.values()].map((group) => {
        const members = group.flatMap((u) => u.members.flatMap((id) => byId.get(id) ?? []));
        return chosenPairs[pairs](compare, members);
      }),
    );
    return judged.flat().flatMap(({ first, second, p }): Signal[] => {
      const vote = ctx.random.split("comparisons", first.id, second.id);
      if (label === "likelier" && p === 0.5) return [];
      const wins = label === "drawn" ? vote.next() < p : p >= 0.5;
      const about = [{ trajectory: first.id }, { trajectory: second.id }];
      const value = label === "expected" ? { value: Math.max(p, 1 - p) } : {};
      return [
        {
          kind: "preference",
          channel,
          about,
          best: wins ? 0 : 1,
          ...value,
          source: evaluator?.name ?? "environment",
        },
      ];
    });
  };
}

interface Judged {
  readonly first: Trajectory;
  readonly second: Trajectory;
  /** Probability that the first is preferred. */
  readonly p: number;
}

type Compare = (first: Trajectory, second: Trajectory) => Promise<Judged[]>;

/** Compares two attempts; no result where the evaluator failed. */
function comparingIn(ctx: Ctx, evaluator: Evaluator): Compare {
  const { compare } = evaluatorIn(ctx, evaluator);
  return async (first, second) => {
    const p = await compare(first, second, ctx.random.split("compare", first.id, second.id));
    return p === undefined ? [] : [{ first, second, p }];
  };
}

const chosenPairs = { neighbours, all, extremes };

async function neighbours(compare: Compare, group: readonly Trajectory[]): Promise<Judged[]> {
  const asked: Promise<Judged[]>[] = [];
  for (let i = 0; i + 1 < group.length; i += 2) asked.push(compare(group[i]!, group[i + 1]!));
  return (await Promise.all(asked)).flat();
}

async function all(compare: Compare, group: readonly Trajectory[]): Promise<Judged[]> {
  const asked = group.flatMap((first, i) => group.slice(i + 1).map((second) => compare(first, second)));
  return (await Promise.all(asked)).flat();
}

/** The first of equals is the best, the last of equals the worst. */
async function extremes(compare: Compare, group: readonly Trajectory[]): Promise<Judged[]> {
  const wins = new Map(group.map((t) => [t, 0]));
  for (const { first, second, p } of await all(compare, group)) {
    wins.set(first, wins.get(first)! + p);
    wins.set(second, wins.get(second)! + 1 - p);
  }
  const ranked = [...wins].sort(([, a], [, b]) => b - a).map(([t]) => t);
  const [best, worst] = [ranked[0], ranked.at(-1)];
  return best && worst && best !== worst ? compare(best, worst) : [];
}
