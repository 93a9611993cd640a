import { defineCheck } from "../../../train/check.ts";
import { inquirer } from "../../../worlds/arms/inquiry.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { igpo } from "./method.ts";

const arm = inquirer(
  { topics: 4, hops: 2, branching: 4, queries: 12, turns: 4 },
  {
    iterations: 120,
    settings: { tasks: 4, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.1, 0.2, 0.4, 0.8, 1.6].map((learningRate) => ({ learningRate })),
  },
);

export default defineCheck({
  id: "igpo",
  level: "shared",
  claim:
    "Paying each turn for its gain in likelihood of the gold answer learns a two-hop search in fewer updates.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(grpo),
  method: arm(igpo),
});
