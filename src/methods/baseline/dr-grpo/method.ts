import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

/** About as many tokens as an agent of this house writes in an episode. */
const tokens = 32;

export const drGrpo = method({
  id: "dr-grpo",
  family: "baseline",
  summary: "GRPO done right: no division by the group's deviation, no weight that depends on length",
  paper: "Understanding R1-Zero-Like Training: A Critical Perspective",
  mechanism:
    "GRPO is biased twice. Dividing by the group's deviation weighs tasks that are nearly always or never solved above the others; dividing each attempt by its own length makes long wrong attempts cheap, so that wrong attempts grow. Without both, what is left is the policy gradient with the group's mean as baseline.",
  equation: [
    "A[i] = R[i] − mean(R)                                                    over the group of a task",
    "loss = −1/(rows · L) Σ over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)   L: a constant",
  ].join("\n"),
  source:
    "from the paper, whose L is the limit on a response; L = 32 is ours: AdamW takes no notice of it, as long as gradients stay below the clip of their norm",
  slots: (s) => ({
    advantage: groupNormalised({ scale: "none" }),
    objective: clippedRatio({
      clip: { low: s.clipLow, high: s.clipHigh },
      normaliser: { constant: tokens },
    }),
  }),
});
