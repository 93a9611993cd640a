import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";

export const raft = method({
  id: "raft",
  family: "objective",
  summary: "reward-ranked fine-tuning: imitates the best of each group of attempts",
  paper: "RAFT: Reward rAnked FineTuning for Generative Foundation Model Alignment",
  mechanism:
    "Each iteration samples several answers to a task from the current policy, ranks them by their reward and keeps the best one, which is imitated by maximum likelihood. Any reward that ranks will do, since its size plays no part, and nothing is pushed down, which keeps the loss as stable as supervised fine-tuning. The larger the group, the stronger the choice.",
  equation: [
    "y* = argmax_k r(x, y_k)                        y_1 … y_K ~ π(· | x)",
    "loss = −mean over kept tokens of ln π(y*[t] | x, y*[<t])",
  ].join("\n"),
  source:
    "ranking within each task (local) and one pass over what was kept, as in the paper; without the optional penalty on leaving the reference, and with group sizes of this house (ours)",
  slots: { advantage: rejectionSampled({ keep: { best: 1 } }), objective: likelihood() },
});
