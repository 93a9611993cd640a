import { defineCheck } from "../../../train/check.ts";
import { inquirer } from "../../../worlds/arms/inquiry.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { findMethod } from "../../catalogue.ts";
import { a2tgpo } from "./method.ts";

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
  level: "shared",
  simpler: ["igpo"],
  claim:
    "Gains compared turn by turn, with wider clips for turns that told more, learn a search of varying depth faster than outcomes alone.",
  metric: "mean success over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(grpo),
  method: arm(a2tgpo),
  others: { igpo: arm(findMethod("igpo")) },
});
