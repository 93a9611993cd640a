import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback, Slots } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { engineOf, exploited, policyOf } from "../../../worlds/arms/preferences.ts";
import { exploitability } from "../../../worlds/equilibrium.ts";
import {
  type Preferences,
  preferenceGame,
  preferencesOf,
  repliesOf,
} from "../../../worlds/preferenceGame.ts";
import { spo } from "./method.ts";

/** Five replies in a circle; who beats whom how clearly differs from pair to pair. */
const environment = (seed: number) =>
  preferenceGame({ seed, questions: 3, replies: 5, strength: [0.55, 0.95] });

/** Scores of the Bradley–Terry model that are likeliest under as many comparisons of every pair as one likes; their mean is 0. */
function bradleyTerryScores(prefers: Preferences): number[] {
  let scores = prefers.map(() => 0);
  for (let step = 0; step < 1000; step++)
    scores = scores.map(
      (own, i) =>
        own + 0.5 * prefers[i]!.reduce((sum, p, j) => sum + (i === j ? 0 : p - sigmoid(own - scores[j]!)), 0),
    );
  return scores;
}

const scored = new Map<string, readonly number[]>();
/** Pays the score of a reply; nothing for what is no reply. */
const fittedReward: Feedback = async (ctx, { trajectories }) =>
  trajectories.flatMap((t): Signal[] => {
    const prefers = preferencesOf(ctx.task(t.task));
    const key = JSON.stringify(prefers);
    const scores = scored.get(key) ?? bradleyTerryScores(prefers);
    scored.set(key, scores);
    const value = scores[repliesOf(prefers.length).indexOf(t.turns.at(-1)?.action.content.trim() ?? "")];
    const about = [{ trajectory: t.id }];
    return value === undefined ? [] : [{ kind: "reward", channel: "outcome", about, value, source: "check" }];
  });

const grid = [3, 10, 30].flatMap((learningRate) =>
  [0.05, 0.2, 0.8].map((entropy) => ({ learningRate, entropy })),
);

/** The method with other slots. */
const withSlots = (slots: Partial<Slots>): Recipe<typeof spo.options> => ({
  ...spo,
  build: (settings, options) => {
    const built = spo.build(settings, options);
    return { ...built, slots: { ...built.slots, ...slots } };
  },
});

function arm(what: string, recipe: Recipe<typeof spo.options>): Arm {
  return {
    what,
    grid,
    measure(choice, seed) {
      const tasks: readonly Task[] = environment(seed).tasks("train");
      const sums = tasks.map(() => new Float64Array(5));
      const average = (): number =>
        tasks.reduce((total, task, i) => {
          const all = sums[i]!.reduce((a, b) => a + b, 0);
          const policy = sums[i]!.map((x) => x / all);
          return total + exploitability(preferencesOf(task), policy) / tasks.length;
        }, 0);
      return trainingArm({
        what,
        recipe,
        environment,
        engine: engineOf,
        iterations: 200,
        settings: { ...plainAscent, tasks: 3, groupSize: 8 },
        grid,
        follow: async (policy) => {
          for (const [i, task] of tasks.entries())
            for (const [y, p] of (await policyOf(policy, task)).entries()) sums[i]![y]! += p;
          return average();
        },
        metric: average,
        more: async ({ policy }) => ({
          "exploitability, last policy": await exploited(environment(seed), policy),
        }),
      }).measure(choice, seed);
    },
  };
}

export default defineCheck({
  id: "spo",
  level: "shared",
  simpler: ["baseline"],
  claim:
    "Where preferences run in circles, win proportions against one's own samples lead nearer to the minimax winner than a policy gradient on Bradley–Terry scores, however well those are fitted.",
  metric:
    "exploitability (win rate of the best reply, less 1/2) of the average policy over 200 updates, exact",
  direction: "lower",
  smallestEffect: 0.01,
  range: [0, 0.5],
  baseline: arm("scores of the best-fitting Bradley–Terry model", withSlots({ feedback: [fittedReward] })),
  method: arm("win proportions in the group", spo),
  others: {
    normalised: arm(
      "win proportions divided by the group's deviation",
      withSlots({ advantage: [groupNormalised()] }),
    ),
  },
});
