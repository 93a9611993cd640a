import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { mixedFormats, secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { currreft } from "./method.ts";

const world = (seed: number) => ({ secrets: 12, success: [1e-4, 0.05], seed }) as const;
const iterations = 100;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations,
    settings: { ...plainAscent, tasks: 6, groupSize: 8 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaidedSuccess(policy, secrets(world(seed))),
  });

export default defineCheck({
  id: "currreft",
  level: "shared",
  simpler: ["baseline", "mixture", "without imitation"],
  claim:
    "In stages from choices to the open question, more hard questions are learnt than by GRPO on the open questions alone.",
  metric: "probability of the whole secret in the open question, exact, after 100 iterations",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  notes:
    "The three easier formats have up to 20 iterations each, the open question the rest, of which the last 10 imitate. The paper's first format, yes or no, is left out: its answer is none of the secret's words.",
  baseline: arm("GRPO on the open questions", grpo),
  method: arm("in stages, then imitation of its successes", currreft),
  others: {
    mixture: arm("a uniform mixture of the four formats", mixedFormats),
    "without imitation": arm("in stages, GRPO to the end", {
      ...currreft,
      build: (settings) => currreft.build(settings, { imitateFrom: iterations }),
    }),
  },
});
