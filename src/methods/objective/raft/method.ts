import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";

export const raft = method({
  id: "raft",
  family: "objective",
  summary: "reward-ranked fine-tuning: imitates the best of each group of attempts",
  paper: "RAFT: Reward rAnked FineTuning for Generative Foundation Model Alignment",
  mechanism:
    "Each iteration samples several answers to a task from the current policy, ranks them by their reward and keeps the best one, which is imitated by maximum likelihood. Only the ranking matters, not the scale of the reward, and no likelihood is lowered directly, so the loss is as stable as supervised fine-tuning. A larger group selects more strongly.",
  equation: [
    "y* = argmax_k r(x, y_k)                        y_1 … y_K ~ π(· | x)",
    "loss = −mean over kept tokens of ln π(y*[t] | x, y*[<t])",
  ].join("\n"),
  source:
    "ranking within each task (local) and one pass over the kept answers, as in the paper; without the optional KL penalty towards the reference, and with Whetstone's default group size (ours)",
  options: {
    best: { help: "attempts of a group that are imitated", default: 1, low: 1, whole: true },
  },
  slots: (_s, o) => ({
    advantage: rejectionSampled({ keep: { best: o.best } }),
    objective: likelihood(),
  }),
});
