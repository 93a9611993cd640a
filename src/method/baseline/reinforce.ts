import { runningBaseline } from "../../advantage/runningBaseline.ts";
import { policyGradient } from "../../objective/policyGradient.ts";
import { method } from "../method.ts";

export const reinforce = method({
  id: "reinforce",
  family: "baseline",
  summary: "the score-function gradient with a running baseline",
  paper: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  slots: { advantage: runningBaseline(), objective: policyGradient() },
});
