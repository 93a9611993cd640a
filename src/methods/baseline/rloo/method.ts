import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";

export const rloo = method({
  id: "rloo",
  family: "baseline",
  summary: "REINFORCE with a leave-one-out baseline",
  paper: "Back to Basics: Revisiting REINFORCE-Style Optimization for Learning from Human Feedback in LLMs",
  mechanism:
    "The baseline of each attempt is the mean of the other attempts at its task. It does not depend on the attempt itself, so the gradient is unbiased, and it needs no samples beyond the group.",
  equation: "A[i] = R[i] − (Σ_j R[j] − R[i]) / (G − 1)\nloss = −mean over tokens of A · ln π(t)",
  source:
    "the baseline from the paper, which sums over an attempt's tokens; the mean over all tokens as in verl, whose gradient has the same direction (TRL: sums); no clipped ratio and no KL penalty (ours)",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  slots: { advantage: leaveOneOut(), objective: policyGradient() },
});
