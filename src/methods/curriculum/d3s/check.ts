import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { downSampled } from "./downSampled.ts";
import { d3s } from "./method.ts";

const world = (seed: number) => ({ secrets: 20, success: [0.005, 0.1], seed }) as const;
const iterations = 40;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations,
    settings: { ...plainAscent, tasks: 10, groupSize: 16 },
    grid: [1, 3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    follow: unaidedSuccess,
    more: ({ counters }) => ({ "tokens trained": counters["tokens.trained"] ?? 0 }),
  });

/** The method with another choice of what is kept. */
const keeping = (advantage: ReturnType<typeof downSampled>): Recipe => ({
  ...grpo,
  build: (settings) => {
    const built = d3s.build(settings);
    return { ...built, slots: { ...built.slots, advantage: [built.slots.advantage[0]!, advantage] } };
  },
});

export default defineCheck({
  id: "d3s",
  level: "shared",
  simpler: ["baseline", "random attempts"],
  claim:
    "Trained on the quarter of attempts that varies most, and on their weightiest tokens, a policy learns faster than on all of them.",
  metric: "probability of the whole secret, exact, mean over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  baseline: arm("GRPO on all attempts", grpo),
  method: arm("the most varied quarter, then more; the weightiest tokens", {
    ...d3s,
    build: (settings) => d3s.build(settings, { relaxOver: iterations }),
  }),
  others: {
    "random attempts": arm(
      "a random quarter, all its tokens",
      keeping(downSampled({ by: "random", tokens: 1 })),
    ),
    "attempts alone": arm("the most varied quarter, all its tokens", keeping(downSampled({ tokens: 1 }))),
    "no schedule": arm("the most varied quarter, a fifth of its tokens", keeping(downSampled())),
  },
});
