import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { mixedFormats, secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { cogDrift } from "./method.ts";

const world = (seed: number) => ({ secrets: 12, success: [1e-4, 0.05], seed }) as const;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations: 120,
    settings: { ...plainAscent, tasks: 6, groupSize: 8 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    follow: unaidedSuccess,
    more: ({ curve }) => ({ "dead groups, last": curve.at(-1)?.deadGroups ?? 1 }),
  });

export default defineCheck({
  id: "cog-drift",
  level: "shared",
  simpler: ["baseline", "mixture"],
  claim:
    "Asked in easier formats first, more of the hard questions are learnt than by GRPO on the open questions alone.",
  metric: "probability of the whole secret in the open question, exact, mean over training",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm("GRPO on the open questions", grpo),
  method: arm("each climbs from four choices to the open question", cogDrift),
  others: { mixture: arm("a uniform mixture of the four formats", mixedFormats) },
});
