/** Shared by what is measured in the hackable world: reward models of its comparisons, and policies that one of them pays. */
import { type Able, type Attempt, scorer } from "../../core/evaluator.ts";
import { randomStream } from "../../core/random.ts";
import type { Feedback } from "../../core/slots.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import { type Features as SharedRows, tabularEngine } from "../../engine/tabular/engine.ts";
import { difference } from "../../helper/bradleyTerry.ts";
import { fitLogistic, type LogisticRow, oddsOf } from "../../helper/logisticRegression.ts";
import type { Features } from "../../helper/ridge.ts";
import type { Hackable } from "../hackable.ts";

/** The reward that a model gives a reply. */
export type RewardOf = (task: Task, reply: string) => number;

/** Reward models of one set of comparisons. */
export interface HackableModels {
  /** Fitted to all comparisons. */
  readonly one: RewardOf;
  /** The others, each fitted to as many comparisons, drawn with replacement. */
  readonly members: readonly RewardOf[];
}

/** Bradley–Terry models that are linear in the counts of a reply's words, and of each word after this request. */
export function hackableModels(
  world: Hackable,
  {
    comparisons = 400,
    members = 4,
    seed,
  }: { readonly comparisons?: number; readonly members?: number; readonly seed: number },
): HackableModels {
  const rows = world.comparisons(comparisons).map(
    ({ task, preferred, other }): LogisticRow => ({
      x: difference(featuresOf(task, preferred), featuresOf(task, other)),
      y: 1,
      weight: 1,
    }),
  );
  const fitted = (of: readonly LogisticRow[]): RewardOf => {
    const weights = fitLogistic(of, new Map(), { strength: 1e-2 });
    return (task, reply) => oddsOf(weights, featuresOf(task, reply));
  };
  return {
    one: fitted(rows),
    members: Array.from({ length: members }, (_, m) => {
      const stream = randomStream(seed).split("member", m);
      return fitted(rows.map(() => rows[stream.below(rows.length)]!));
    }),
  };
}

/** A reward as an evaluator. */
export const asEvaluator = (name: string, rewardOf: RewardOf): Able<"score"> =>
  scorer<Attempt>(name, async ({ task, trajectory }) => rewardOf(task, lastReply(trajectory)));

/** Pays each attempt this reward. */
export const paying =
  (rewardOf: RewardOf): Feedback =>
  async ({ task }, { trajectories }) =>
    trajectories
      .filter(({ end }) => end.kind !== "failed")
      .map((t) => ({
        kind: "score",
        channel: "outcome",
        about: [{ trajectory: t.id }],
        value: rewardOf(task(t.task), lastReply(t)),
        source: "reward model",
      }));

/** The world's first policy. A word's place and the request choose the row, so that what is learnt holds after any words before it. */
export const hackableEngine = ({ prior }: Hackable): ReturnType<typeof tabularEngine> =>
  tabularEngine({ context: "message", prior, features: byPlace });

const byPlace: SharedRows = (context) => {
  const at = context.lastIndexOf("<assistant>");
  return [`${context[at - 1]} ${context.length - at}`];
};

function featuresOf(task: Task, reply: string): Features {
  const counts: Record<string, number> = {};
  for (const word of reply.split(/\s+/).filter((w) => w !== "")) {
    for (const name of [word, `${task.id} → ${word}`]) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const lastReply = ({ turns }: Trajectory): string => turns.at(-1)?.action.content ?? "";
