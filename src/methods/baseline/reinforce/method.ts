import { runningBaseline } from "../../../advantage/runningBaseline.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";

export const reinforce = method({
  id: "reinforce",
  family: "baseline",
  summary: "the score-function gradient with a running baseline",
  paper: "Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning",
  mechanism:
    "An attempt is made more likely in proportion to its return minus a running mean of returns. The simplest policy gradient, with the highest variance.",
  equation:
    "A[i] = R[i] − b                 b: running mean of returns\nloss = −mean over tokens of A · ln π(t)",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  slots: { advantage: runningBaseline(), objective: policyGradient() },
});
