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
    "The environment's own expert plays the practised tasks, and the policy is made to write what the expert wrote by maximum likelihood. Rewards play no part: what the expert does badly is imitated as well, and what it never shows is never learnt.",
  equation: "loss = −mean over tokens of ln π(y*[t] | x, y*[<t])        y*: what the expert wrote",
  source: "the usual token mean; one demonstration of each practised task an iteration (ours)",
  slots: { rollout: demonstrated(), advantage: constant(), objective: likelihood() },
});
