import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { agreement } from "./agreement.ts";
import { bothViews } from "./bothViews.ts";

export const coReward = method({
  id: "co-reward",
  family: "self-play",
  summary: "no labels: attempts are paid for agreeing with the majority on the same question in other words",
  paper:
    "Co-Reward: Self-supervised Reinforcement Learning for Large Language Model Reasoning via Contrastive Agreement",
  mechanism:
    "Every question has a twin in other words with the same answer. The policy answers both several times, and each side's majority is the label of the other. A policy that is paid for agreeing with its own majority makes whatever is most frequent more frequent, mistakes too. A label from other words is another estimate: where the two views are led astray by different mistakes, only what they share, the answer, is paid on both sides.",
  equation: [
    "r[i] = 1[a_i = mode(a′)],   r′[i] = 1[a′_i = mode(a)]          a: answers to x,  a′: to its twin x′",
    "A = (r − mean r) / std r                                       over the group of x, and over that of x′",
    "loss = L_GRPO(x) + L_GRPO(x′) + 0.005 · KL(π ‖ π_ref)",
  ].join("\n"),
  source:
    "swapped majorities, no pay without a label, ties for the answer that came first and 0.005 from the paper's code. The twins come with the environment's tasks (`metadata.rewritten`), as the paper has them written beforehand. Twins whose answers differ mislead both sides: filter those with different confident majorities at the start",
  frozen: { reference: {} },
  needs: ["freeze"],
  options: {
    kl: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.005, low: 0 },
  },
  slots: ({ groupSize, temperature, clipLow, clipHigh }, { kl }) => ({
    rollout: bothViews({ groupSize, temperature }),
    feedback: agreement(),
    objective: [clippedRatio({ clip: { low: clipLow, high: clipHigh } }), klPenalty({ coefficient: kl })],
  }),
});
