import { gae } from "../../../advantage/gae.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, trainingArm } from "../../../train/trainingArm.ts";
import { corridor } from "../../../worlds/corridor.ts";
import { wordy } from "./wordy.ts";

/** Two words of thought before each action: 36 token paths from each observation to the action. */
const environment = (seed: number) =>
  wordy(corridor({ cells: 20, kinds: 2, layouts: 10, seed }), { words: 2, vocabulary: 6 });

/** The initial policy knows only the format of a reply. */
const prior: Prior = (context, word) => {
  const place = context.length - 1 - context.indexOf("<assistant>");
  return (place < 2 ? /^um/ : /^a\d/).test(word) ? 0 : -1e9;
};

/** PPO with turns or tokens as steps; λ is per step, so each kind has its own best value. */
const recipe = (level: "token" | "turn", lambda: number) =>
  method({
    id: `ppo-${level}`,
    family: "baseline",
    summary: `PPO whose steps are ${level}s`,
    models: { critic: { from: "fresh", heads: ["value"] } },
    needs: ["heads"],
    slots: {
      annotate: values(),
      feedback: turnRewards({ unpaid: "zero" }),
      credit: perTurn(),
      advantage: [gae({ level, lambda }), whitened()],
      objective: [clippedRatio(), valueRegression()],
    },
  });

const arm = (level: "token" | "turn"): Arm => ({
  what: recipe(level, 1).summary,
  grid: [0.3, 1].flatMap((learningRate) => [0.8, 0.9, 0.95].map((lambda) => ({ learningRate, lambda }))),
  measure: (choice, seed) =>
    trainingArm({
      recipe: recipe(level, Number(choice.lambda)),
      environment,
      engine: () => tabularEngine({ context: "message", prior }),
      iterations: 60,
      contextTokens: 1024,
      // a cell's reward is 1/20, so a tabular critic needs smaller steps than the logits
      settings: { tasks: 2, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0, criticRate: 0.3 },
      grid: [choice],
      metric: ({ curve }) => averageOf(curve, "reward"),
      more: ({ curve }) => ({ "cells, last 10": averageOf(curve.slice(-10), "reward") }),
    }).measure(choice, seed),
});

export default defineCheck({
  id: "turn-ppo",
  level: "shared",
  claim:
    "With turns as the steps of critic and advantage, PPO learns faster than with tokens, where an action takes several.",
  metric: "mean share of a corridor of 20 cells over 60 updates",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm("token"),
  method: arm("turn"),
  notes:
    "λ belongs to the grid of both: at 0.95 alone, on three other seeds, turns and tokens were alike, since 0.95 per token fades three times as fast; turns wanted about 0.8. In a table every way of putting a thought is a state of its own for policy and critic alike, and nothing is shared between them, which hides what a critic of tokens gets wrong in a network. Jobs of three or four exact calls (tool-calls) were solved equally fast by both and by GRPO.",
});
