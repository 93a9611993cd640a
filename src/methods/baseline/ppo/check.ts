import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { defineCheck } from "../../../train/check.ts";
import { averageOf, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { corridor } from "../../../worlds/corridor.ts";
import { grpo } from "../grpo/method.ts";
import { ppo } from "./method.ts";

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: (seed) => corridor({ cells: 30, kinds: 4, layouts: 10, seed }),
    engine: () =>
      tabularEngine({ context: "message", prior: (_context, word) => (/^a\d/.test(word) ? 0 : -1e9) }),
    iterations: 60,
    contextTokens: 1024,
    // a cell's reward is 1/30, so a tabular critic needs smaller steps than the logits
    settings: { tasks: 2, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0, criticRate: 0.3 },
    grid: [0.1, 0.3, 1, 3].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve, "reward"),
    more: ({ curve }) => ({ "cells, last 10": averageOf(curve.slice(-10), "reward") }),
  });

export default defineCheck({
  id: "ppo",
  level: "shared",
  claim:
    "A critic gives each step of an episode its own credit, which teaches faster than one number for the whole of it.",
  metric: "mean share of a corridor of 30 cells over 60 updates",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(grpo),
  method: arm(ppo),
});
