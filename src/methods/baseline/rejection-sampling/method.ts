import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";

export const rejectionSampling = method({
  id: "rejection-sampling",
  family: "baseline",
  summary: "rejection-sampling fine-tuning: imitates the policy's own successes",
  paper: "Scaling Relationship on Learning Mathematical Reasoning with Large Language Models",
  mechanism:
    "The policy attempts every task several times, failures are thrown away, and the successes are imitated by maximum likelihood. Nothing is ever pushed down: what failed fades only because something else is written more often, and a task without a success teaches nothing.",
  equation: "loss = −mean over tokens of { y : R(y) ≥ 1 } of ln π(y[t] | x, y[<t])",
  source: "all successes are kept, and sampled anew from the current policy in every iteration (ours)",
  slots: { advantage: rejectionSampled(), objective: likelihood() },
});
