import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { trainingArm } from "../../../train/trainingArm.ts";
import { kernels } from "./kernels.ts";
import { drKernel } from "./method.ts";

/** Initially the library call is the likeliest answer; other words are not answers. */
const prior: Prior = (_context, word) => (word === "library" ? 2 : /^v\d+$/.test(word) ? 0 : -1e9);

/** The usual kernel reward, per episode, without the profiler. */
const plain = method({
  id: "grpo-speed",
  family: "baseline",
  summary: "GRPO, paid for right answers and their measured speed",
  slots: { feedback: outcome({ rewards: ["outcome"] }) },
});

const profiled = turnRewards({ rewards: ["outcome", "coverage"], weights: { coverage: 0.5 } });
const paid = method({
  id: "grpo-coverage",
  family: "baseline",
  summary: "GRPO, paid for coverage as well",
  slots: { feedback: profiled },
});
const turns = method({
  id: "dr-kernel-unmasked",
  family: "advantage",
  summary: "paid for coverage, leave-one-out returns per turn, nothing dropped",
  slots: { feedback: profiled, credit: perTurn(), advantage: returnsToGo({ leaveOneOut: true }) },
});

const arm = (recipe: Recipe) =>
  trainingArm({
    recipe,
    environment: (seed) => kernels({ operations: 8, variants: 8, stops: 0.3, seed }),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: 60,
    settings: { tasks: 8, groupSize: 4, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.03, 0.1, 0.3, 1, 3, 10].map((learningRate) => ({ learningRate })),
  });

export default defineCheck({
  id: "dr-kernel",
  level: "table",
  simpler: ["pay", "turns"],
  claim:
    "Leave-one-out returns per turn with profiling rewards and rejection find faster kernels than GRPO, which settles for right ones.",
  metric: "share of episodes whose last kernel is 1.2 times as fast as the library, over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(plain),
  method: arm(drKernel),
  others: { pay: arm(paid), turns: arm(turns) },
});
