import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";

export const rejectionSampling = method({
  id: "rejection-sampling",
  family: "baseline",
  summary: "rejection-sampling fine-tuning: imitates the policy's own successes",
  paper: "Scaling Relationship on Learning Mathematical Reasoning with Large Language Models",
  mechanism:
    "The policy attempts every task several times, failures are thrown away, and the successes are imitated by maximum likelihood. No likelihood is lowered directly: failed attempts become rarer only because others become more likely, and a task without a success gives no gradient.",
  equation: "loss = −mean over tokens of { y : R(y) ≥ 1 } of ln π(y[t] | x, y[<t])",
  source: "all successes are kept; every iteration samples anew from the current policy (ours)",
  slots: { advantage: rejectionSampled(), objective: likelihood() },
});
