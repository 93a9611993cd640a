import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { r3ReplayReflectRank } from "./method.ts";

const world = (seed: number) => ({ secrets: 20, success: [0.002, 0.05], seed }) as const;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations: 60,
    settings: { ...plainAscent, tasks: 10, groupSize: 8 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaidedSuccess(policy, secrets(world(seed))),
    more: ({ curve }) => ({
      "groups without a difference": curve.reduce((sum, m) => sum + (m.deadGroups ?? 1) / curve.length, 0),
      "groups joined": curve.reduce((sum, m) => sum + (m.replayed ?? 0) / curve.length, 0),
    }),
  });

/** The replay alone: a table does not read what it reflects on, and no reply here is cut off. */
const joining = (count: number): Recipe => ({
  ...r3ReplayReflectRank,
  build: (settings) => r3ReplayReflectRank.build(settings, { reflectBelow: 0, joining: count }),
});

export default defineCheck({
  id: "r3-replay-reflect-rank",
  level: "shared",
  simpler: ["baseline", "nothing joins"],
  claim: "Stored attempts of the missing outcome in groups of equal rewards teach more than GRPO does.",
  metric: "probability of the whole secret, exact, after 60 iterations",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  notes:
    "Only the first of the three repairs is checked. Reflection needs a policy that reads its own mistake, which a table does not; and replies of a fixed length are never cut off, so nothing is ranked. Both are tested as mathematics alone.",
  baseline: arm("GRPO", grpo),
  method: arm("a stored attempt of the missing outcome joins", joining(1)),
  others: { "nothing joins": arm("the same advantages, nothing joins", joining(0)) },
});
