import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { answers } from "../../../worlds/answers.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { rejectionSampling } from "../../baseline/rejection-sampling/method.ts";
import { rise } from "./method.ts";

const tries = 5;
/** Four questions of three variants each, which look the same: no first answer is right for all. */
const environment = (seed: number, turns: number) =>
  tryAgain(answers({ seed, questions: 12, variants: 3, vocabulary: 8, right: 1 }), { turns, words: "wrong" });

const said = (context: readonly string[]): string[] => context.filter((word) => /^a\d$/.test(word));
/** A habit of repeating: each earlier occurrence raises an answer by two nats. */
const prior: Prior = (context, word) =>
  /^a\d$/.test(word) ? 2 * context.filter((earlier) => earlier === word).length : -1e9;
/** A row for each question and set of refuted answers. */
const features: Features = (context) => [
  [context.find((word) => /^q\d+$/.test(word)) ?? "", ...new Set(said(context).sort())].join(" "),
];

/** The policy with five tries at every question, eight times. */
async function tried(policy: Model, seed: number) {
  const rounds = Array.from({ length: 8 }, (_, round) =>
    evaluate({
      environment: environment(seed, tries),
      agent: policy,
      split: "train",
      mode: "sampled",
      tasks: Number.POSITIVE_INFINITY,
      random: randomStream(seed).split("tried", round),
      limit: (work) => work(),
    }),
  );
  const episodes = (await Promise.all(rounds)).flatMap(({ trajectories }) => trajectories);
  return {
    /** Mean over k = 1 … tries of the share answered within k tries: each answer counts for the tries that it leaves over. */
    success: mean(episodes.map((t) => (succeeded(t) ? (tries + 1 - t.turns.length) / tries : 0))),
    answered: mean(episodes.map((t) => Number(succeeded(t)))),
    first: mean(episodes.map((t) => t.turns[0]?.rewards.outcome ?? 0)),
  };
}

const arm = (what: string, recipe: Recipe, turns: number, iterations: number, groupSize = 5) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => environment(seed, turns),
    engine: () => tabularEngine({ prior, features }),
    iterations,
    settings: { ...plainAscent, tasks: 6, groupSize },
    grid: [10, 30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => (await tried(policy, seed)).success,
    more: async ({ policy }, seed) => {
      const { first, answered } = await tried(policy, seed);
      return { "first try": first, [`within ${tries} tries`]: answered };
    },
  });

export default defineCheck({
  id: "rise",
  level: "shared",
  simpler: ["baseline", "whole episodes"],
  claim: `Trained in the states that its own mistakes lead to, a policy answers more within one to ${tries} tries than one trained on single answers.`,
  metric: `share of tasks answered within k tries, mean over k = 1 … ${tries}`,
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost:
    "2,448 answers of the baseline, about 1,523 of the method and 1,244 of whole episodes; in the method, most episodes replay a state and sample one answer",
  baseline: arm("best of five on the first answer alone", rise, 1, 68),
  method: arm("best of five in every state of five tries", rise, tries, 15),
  others: {
    "whole episodes": arm("imitates all answers of successful episodes", rejectionSampling, tries, 15),
  },
});
