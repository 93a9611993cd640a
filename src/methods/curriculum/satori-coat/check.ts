import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { satoriCoat } from "./method.ts";
import { retraced, retracedPolicy } from "./retraced.ts";

const arm = (what: string, options: { readonly restarts?: number; readonly bonus?: number }) =>
  trainingArm({
    what,
    recipe: {
      ...satoriCoat,
      build: (settings) => satoriCoat.build(settings, { kl: 0, ...options }),
    } satisfies Recipe,
    environment: retraced,
    engine: (seed) => tabularEngine(retracedPolicy(seed)),
    iterations: 14,
    settings: { ...plainAscent, tasks: 6, groupSize: 8, criticRate: 0.1 },
    grid: [6, 12, 24, 48].map((learningRate) => ({ learningRate })),
    metric: async ({ evaluate }) => (await evaluate("test")).success.mean,
    more: ({ curve }) => ({
      "wrong beginnings repaired, last": curve.findLast((m) => m.repaired !== undefined)?.repaired ?? 0,
    }),
  });

export default defineCheck({
  id: "satori-coat",
  level: "table",
  simpler: ["baseline", "no bonus"],
  claim:
    "Restarts from beginnings of own attempts, with a bonus for repairs, teach more than attempts from the task alone.",
  metric: "success from the task, in eight attempts at each lock",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  unequalCost: "equal attempts; what is taken over from an earlier attempt is not sampled again",
  notes:
    "Every lock shows its mistakes to whoever plays it from the start, so that beginnings add few situations that attempts from the task do not meet, and half of the attempts train on a part of their turns alone. Without the bonus restarts do about as well as with it. A table reads the word to reflect as nothing.",
  baseline: arm("PPO, every attempt from the task", { restarts: 0 }),
  method: arm("half of the attempts from a beginning", {}),
  others: { "no bonus": arm("the same without the bonus", { bonus: 0 }) },
});
