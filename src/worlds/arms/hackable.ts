/** Shared by what is measured in the hackable world: reward models of its comparisons, and policies that one of them pays. */
import { type Able, type Attempt, scorer } from "../../core/evaluator.ts";
import { randomStream } from "../../core/random.ts";
import type { Feedback } from "../../core/slots.ts";
import type { Task, Trajectory } from "../../core/types.ts";
import { type Features as SharedRows, tabularEngine } from "../../engine/tabular/engine.ts";
import { difference } from "../../helper/bradleyTerry.ts";
import {
  fitLogistic,
  type LogisticRow,
  type LogisticWeights,
  oddsOf,
} from "../../helper/logisticRegression.ts";
import type { Features } from "../../helper/ridge.ts";
import type { Hackable } from "../hackable.ts";

/** Reward models of one set of comparisons. */
export interface HackableModels {
  /** The model that pays, fitted to all comparisons. */
  rewardOf(task: Task, reply: string): number;
  /** The others, each fitted to as many comparisons, drawn with replacement. */
  readonly members: readonly Able<"score">[];
  /** The reward of the model that pays, for each attempt. */
  readonly feedback: Feedback;
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
  const fit = (of: readonly LogisticRow[]): LogisticWeights => fitLogistic(of, new Map(), { strength: 1e-2 });
  const paying = fit(rows);
  const rewardOf = (task: Task, reply: string): number => oddsOf(paying, featuresOf(task, reply));
  return {
    rewardOf,
    members: Array.from({ length: members }, (_, m) => {
      const stream = randomStream(seed).split("member", m);
      const weights = fit(rows.map(() => rows[stream.below(rows.length)]!));
      return scorer<Attempt>(`reward model ${m + 1}`, async ({ task, trajectory }) =>
        oddsOf(weights, featuresOf(task, lastReply(trajectory))),
      );
    }),
    feedback: async ({ task }, { trajectories }) =>
      trajectories
        .filter(({ end }) => end.kind !== "failed")
        .map((t) => ({
          kind: "score",
          channel: "outcome",
          about: [{ trajectory: t.id }],
          value: rewardOf(task(t.task), lastReply(t)),
          source: "reward model",
        })),
  };
}

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
