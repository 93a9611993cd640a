import { method } from "../../../method/method.ts";
import { hintedWhereHopeless, hintWord } from "./hintedWhereHopeless.ts";

export const ghpoHints = method({
  id: "ghpo-hints",
  family: "curriculum",
  summary:
    "shows the beginning of the reference where a whole group fails, more of it until an attempt succeeds",
  paper: "GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning",
  mechanism:
    "A group of attempts that all fail gives no gradient. Its task counts as out of reach: the first quarter of the reference solution is added to the prompt as a hint, and the whole group is made again, then with half and with three quarters of it. A group with a success is trained on under the prompt that it was made with. As the policy improves, groups succeed with shorter hints and in the end with none.",
  equation: [
    "w* = the smallest w in {0, ¼, ½, ¾} at which one of y[1..G] ~ π(· | x, first w of the reference) is right, else ¾",
    "A[i] = (R[i] − mean R) / std R        over that group alone",
    "loss: clipped ratios of π(· | x, w*) to the sampling policy under the same prompt",
  ].join("\n"),
  source:
    "levels, resampling and the group's own prompt from the paper and its code; a hint is cut at words, rounded half up; no format reward, and no cold start with fixed hints (`plainFor` iterations begin without hints)",
  says: [hintWord],
  options: {
    plainFor: { help: "iterations at the beginning without hints", default: 0, low: 0, whole: true },
  },
  slots: ({ groupSize, temperature }, { plainFor }) => ({
    rollout: hintedWhereHopeless({ groupSize, temperature, plainFor }),
  }),
});
