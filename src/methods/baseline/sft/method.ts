import { constant } from "../../../advantage/constant.ts";
import { method } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { demonstrated } from "../../../rollout/demonstrated.ts";

export const sft = method({
  id: "sft",
  family: "baseline",
  summary: "supervised fine-tuning: imitates the environment's expert, token by token",
  paper: "Training language models to follow instructions with human feedback",
  mechanism:
    "The environment's expert plays the training tasks, and the policy is fitted to the expert's tokens by maximum likelihood. Rewards are not used: the expert's mistakes are imitated as well, and behaviour that it never shows is not learnt.",
  equation: "loss = −mean over tokens of ln π(y*[t] | x, y*[<t])        y*: what the expert wrote",
  source: "the usual mean over tokens; one demonstration of each training task per iteration (ours)",
  learnsFrom: { kind: "demonstration" },
  slots: { rollout: demonstrated(), advantage: constant(), objective: likelihood() },
});
