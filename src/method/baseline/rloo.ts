import { leaveOneOut } from "../../advantage/leaveOneOut.ts";
import { policyGradient } from "../../objective/policyGradient.ts";
import { method } from "../method.ts";

export const rloo = method({
  id: "rloo",
  family: "baseline",
  summary: "REINFORCE with a leave-one-out baseline",
  paper: "Back to Basics: Revisiting REINFORCE-Style Optimization for Learning from Human Feedback in LLMs",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  slots: { advantage: leaveOneOut(), objective: policyGradient() },
});
