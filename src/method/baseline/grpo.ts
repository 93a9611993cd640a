import { method } from "../method.ts";

export const grpo = method({
  id: "grpo",
  family: "baseline",
  summary: "group-relative policy optimisation: each attempt against the others at its task",
  paper: "DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models",
  slots: {},
});
