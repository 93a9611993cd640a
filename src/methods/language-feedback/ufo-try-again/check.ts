import { mean } from "../../../common/statistics/statistics.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded } from "../../../core/types.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { answers } from "../../../worlds/answers.ts";
import { tryAgain } from "../../../worlds/tryAgain.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { ufoTryAgain } from "./method.ts";
import { repeatedShare } from "./retries.ts";

/** Eight questions with three variants each: no first answer is right for all, so a second one is needed. */
const environment = (seed: number, turns: number) =>
  tryAgain(answers({ seed, questions: 24, variants: 3, vocabulary: 8, right: 2 }), { turns, words: "wrong" });

/** The repetition habit of language models: each earlier occurrence raises an answer by two nats. */
const prior: Prior = (context, word) =>
  /^a\d+$/.test(word) ? 2 * context.filter((said) => said === word).length : -1e9;

const tries = 5;

/** Evaluates the trained policy with five tries at every question, six times. */
async function tried(policy: Parameters<typeof evaluate>[0]["agent"], seed: number) {
  const played = await Promise.all(
    Array.from({ length: 6 }, (_, round) =>
      evaluate({
        environment: environment(seed, tries),
        agent: policy,
        split: "train",
        mode: "sampled",
        tasks: Number.POSITIVE_INFINITY,
        random: randomStream(seed).split("tried", round),
        limit: (work) => work(),
      }),
    ),
  );
  const episodes = played.flatMap(({ trajectories }) => trajectories);
  return {
    success: mean(episodes.map((t) => (succeeded(t) ? 1 : 0))),
    first: mean(episodes.map((t) => t.turns[0]?.rewards.outcome ?? 0)),
    repeated: mean(episodes.map((t) => repeatedShare(t))),
    turns: mean(episodes.map((t) => t.turns.length)),
  };
}

const arm = (recipe: Recipe, what: string, turns: number, iterations: number): Arm => ({
  what,
  grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const { counters, policy } = await trainInMemory({
      environment: environment(seed, turns),
      engine: tabularEngine({ prior }),
      method: recipe.build({
        ...plainAscent,
        tasks: 12,
        groupSize: 12,
        gradientClip: 1000,
        learningRate: Number(choice.learningRate),
      }),
      seed,
      iterations,
    });
    const { success, ...more } = await tried(policy, seed);
    const cost = { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 };
    return { value: success, cost, more };
  },
});

export default defineCheck({
  id: "ufo-try-again",
  level: "shared",
  simpler: ["plain"],
  claim: `Practised with retries, a policy answers more tasks within ${tries} tries than one practised on single answers.`,
  metric: `share of tasks answered within ${tries} tries after practice`,
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 2,
  unequalCost:
    "an episode with retries holds several answers: single answers get twice as many episodes, so that the answers practised are about as many",
  notes:
    "On a table nothing learnt of first answers reaches later ones: what the single-answer arm does after a failure is the habit that it began with, where a language model's may get worse with practice. That the first answer stays as good has no say in the verdict: `first` shows it, and `plain` is the method without decay and penalty. Tried before, on other seeds: 36 questions and groups of 16, with smaller steps, +0.20.",
  baseline: arm(grpo, "GRPO on single answers", 1, 80),
  method: arm(ufoTryAgain, "retries with decay and penalty", tries, 40),
  others: { plain: arm(grpo, "GRPO with retries, neither decay nor penalty", tries, 40) },
});
