import { grpo } from "../../src/method/baseline/grpo.ts";
import { igpo } from "../../src/method/credit/igpo.ts";
import { defineCheck } from "../../src/train/index.ts";
import { inquirer } from "./_inquiry.ts";

const arm = inquirer(
  { topics: 4, hops: 2, branching: 4, queries: 12, turns: 4 },
  {
    iterations: 100,
    settings: { tasks: 4, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [
      { learningRate: 0.1 },
      { learningRate: 0.3 },
      { learningRate: 1 },
      { learningRate: 3 },
      { learningRate: 10 },
    ],
  },
);

export default defineCheck({
  id: "igpo",
  claim:
    "Paying each turn for its gain in likelihood of the gold answer learns a two-hop search in fewer updates.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.02,
  tuningSeeds: 2,
  baseline: arm(grpo),
  method: arm(igpo),
});
