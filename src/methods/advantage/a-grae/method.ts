import { method } from "../../../method/method.ts";
import { asymmetric } from "./asymmetric.ts";

export const aGrae = method({
  id: "a-grae",
  family: "advantage",
  summary: "asymmetric group advantages: exploration while success is rare, hard tasks later",
  paper:
    "Unveiling Implicit Advantage Symmetry: Why GRPO Struggles with Exploration and Difficulty Adaptation",
  mechanism:
    "With rewards of 0 and 1 the advantages of a group cancel, so answers that were not sampled get no gradient, and a group's weight √(p(1 − p)) always favours tasks of medium difficulty. Both symmetries are broken, depending on the batch's mean success: early in training, right answers count less and easy tasks more; later, right answers count in full and hard tasks more.",
  equation: [
    "a = (R − p) / std                                    p: mean reward of the group, m: mean of all p",
    "A = (1 − m) · a / (2(1 − √p)) + m · a / (2√p)",
    "A ← A · min(1, m/α)  where A > 0                     α = 1",
  ].join("\n"),
  source: "weights and α from the paper's code; m is taken before groups without spread are left out (ours)",
  options: {
    full: {
      help: "success of the batch at which positive advantages have their full size",
      default: 1,
      low: 1e-6,
      high: 1,
    },
  },
  slots: (_s, o) => ({ advantage: asymmetric({ full: o.full }) }),
});
