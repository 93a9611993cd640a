import { grpo } from "../../src/method/baseline/grpo.ts";
import { a2tgpo } from "../../src/method/credit/a2tgpo.ts";
import { igpo } from "../../src/method/credit/igpo.ts";
import { defineCheck } from "../../src/train/check.ts";
import { inquirer } from "./_inquiry.ts";

const arm = inquirer(
  { topics: 4, hops: 2, branching: 4, queries: 12, turns: 6 },
  {
    iterations: 60,
    // several steps per batch: at a ratio of 1 the width of a clip has no effect
    settings: { tasks: 4, groupSize: 8, minibatches: 1, epochs: 4, schedule: "constant", warmUp: 0 },
    grid: [0.03, 0.1, 0.3, 1].map((learningRate) => ({ learningRate })),
  },
);

export default defineCheck({
  id: "a2tgpo",
  claim:
    "Gains compared turn by turn, with wider clips for turns that told more, learn a search of varying depth faster than outcomes alone.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.02,
  tuningSeeds: 2,
  baseline: arm(grpo),
  method: arm(a2tgpo),
  others: { igpo: arm(igpo) },
});
