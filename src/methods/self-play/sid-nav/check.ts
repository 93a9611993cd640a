import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import type { OptionValue } from "../../../core/slots.ts";
import { succeeded } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { hall, shortestOf } from "./hall.ts";
import { sidNav } from "./method.ts";
import { splOf } from "./ownDemonstrations.ts";

const world = (seed: number) => hall({ doors: 5, turns: 14, tasks: 60, seed });

/** In halls that were never trained on, two episodes each. */
async function found(policy: Model, seed: number) {
  const environment = world(seed);
  const shortest = new Map(environment.tasks("test").map((task) => [task.id, shortestOf(task)]));
  const rounds = Array.from({ length: 2 }, (_, round) =>
    evaluate({
      environment,
      agent: policy,
      split: "test",
      mode: "sampled",
      tasks: Number.POSITIVE_INFINITY,
      random: randomStream(seed).split("found", round),
      limit: (work) => work(),
    }),
  );
  const episodes = (await Promise.all(rounds)).flatMap(({ trajectories }) => trajectories);
  return {
    success: mean(episodes.map((t) => Number(succeeded(t)))),
    spl: mean(episodes.map((t) => splOf(t, shortest.get(t.task)!))),
  };
}

const arm = (what: string, options: Readonly<Record<string, OptionValue>>) =>
  trainingArm({
    what,
    recipe: {
      ...sidNav,
      build: (settings) => sidNav.build(settings, options),
    } satisfies Recipe,
    environment: world,
    engine: () =>
      tabularEngine({
        context: "message",
        prior: (_context, word) => (/^(left|right|look)$/.test(word) ? 0 : -1e9),
      }),
    iterations: 24,
    settings: { ...plainAscent, tasks: 10, groupSize: 4 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }, seed) => (await found(policy, seed)).success,
    more: async ({ policy, curve }, seed) => ({
      spl: (await found(policy, seed)).spl,
      "kept, last": curve.at(-1)?.kept ?? 0,
    }),
  });

export default defineCheck({
  id: "sid-nav",
  level: "table",
  simpler: ["baseline", "any length"],
  claim:
    "Imitating its own successes after an expert's shortest ways, an agent finds what it cannot see more often than by imitating the expert alone.",
  metric: "share of held-out halls in which the thing is found within 14 turns",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost:
    "equal updates; the expert's demonstrations are not sampled, while the agent's own have to be found",
  notes:
    "Own successes of any length do better than the filter of the paper (0.92), and so do own successes without an expert before them (0.90): in a hall of five doors a long success wanders little, and the expert's habits, which never look where nothing is, have to be unlearnt.",
  baseline: arm("the expert in every iteration", { expert: 1 }),
  method: arm("the expert, then own successes of at most three times its length", {}),
  others: {
    "any length": arm("the expert, then own successes of any length", { longest: 1000, best: 4 }),
    "without the expert": arm("own successes from the beginning", { expert: 0 }),
  },
});
