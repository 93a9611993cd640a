import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { outcome } from "../../../feedback/outcome.ts";
import type { Recipe, SlotChoices } from "../../../method/method.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { prsVspo } from "./method.ts";
import { progressive } from "./progressive.ts";
import { valueSampled } from "./valueSampled.ts";

const world = (seed: number) => ({ secrets: 20, success: [0.002, 0.3], seed }) as const;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations: 60,
    settings: { ...plainAscent, tasks: 10, groupSize: 8 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    follow: unaidedSuccess,
    more: ({ curve }) => ({
      "groups without a difference": curve.reduce((sum, m) => sum + (m.deadGroups ?? 1) / curve.length, 0),
    }),
  });

const part = (id: string, slots: SlotChoices): Recipe =>
  method({ id, family: "curriculum", summary: "one of the two parts", slots });

export default defineCheck({
  id: "prs-vspo",
  level: "shared",
  simpler: ["baseline", "rewards alone", "places alone"],
  claim: "Staged rewards with value-based places teach faster than GRPO on right or wrong.",
  metric: "probability of the whole secret, exact, mean over training",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  notes:
    "Every reply here is readable and well-formed, so the stages are those of the answer's quality; the gates are tested as mathematics alone.",
  baseline: arm("GRPO on right or wrong", grpo),
  method: arm("staged rewards and value-based places", prsVspo),
  others: {
    "rewards alone": arm(
      "staged rewards, GRPO",
      part("prs", { feedback: progressive(), advantage: groupNormalised() }),
    ),
    "places alone": arm(
      "right or wrong, value-based places",
      part("vspo", { feedback: outcome(), advantage: valueSampled() }),
    ),
  },
});
