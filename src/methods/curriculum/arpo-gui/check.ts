import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { arpoGui } from "./method.ts";

const world = (seed: number) => ({ secrets: 20, success: [0.001, 0.3], seed }) as const;
const [iterations, groupSize, probe] = [80, 8, 16];

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations,
    episodes: iterations * 5 * groupSize,
    settings: { ...plainAscent, tasks: 5, groupSize, epochs: 2, clipHigh: 0.3 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaidedSuccess(policy, secrets(world(seed))),
    more: ({ curve }) => ({
      "groups without a difference": curve.reduce((sum, m) => sum + (m.deadGroups ?? 1) / curve.length, 0),
      "groups revived": curve.reduce((sum, m) => sum + (m.replayed ?? 0) / curve.length, 0),
    }),
  });

export default defineCheck({
  id: "arpo-gui",
  level: "shared",
  simpler: ["baseline"],
  claim:
    "A stored success in the groups that fail teaches more of all tasks than GRPO does, at equal attempts.",
  metric: "probability of the whole secret, exact, mean over all tasks, after 3200 attempts",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  notes:
    "The filter of tasks is an arm of its own: it pays for 16 attempts at each task before training, and drops what the metric asks for.",
  baseline: arm("GRPO", grpo),
  method: arm("a stored success where a group fails", arpoGui),
  others: {
    "with the filter": arm("and only tasks that the first policy solves", {
      ...arpoGui,
      build: (settings) => arpoGui.build(settings, { probe }),
    }),
  },
});
