import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const drGrpo = method({
  id: "dr-grpo",
  family: "baseline",
  summary: "GRPO without division by the group's standard deviation or by the response length",
  paper: "Understanding R1-Zero-Like Training: A Critical Perspective",
  mechanism:
    "GRPO has two biases. Dividing by the group's standard deviation gives more weight to tasks that are nearly always or nearly never solved; dividing each attempt by its own length penalises long wrong attempts less, so wrong attempts grow longer. Without both divisions, the result is the policy gradient with the group's mean as baseline.",
  equation: [
    "A[i] = R[i] − mean(R)                                                    over the group of a task",
    "loss = −1/(rows · L) Σ over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)   L: a constant",
  ].join("\n"),
  source:
    "from the paper, whose L is the limit on a response; L = 32 is ours: AdamW is invariant to it as long as the gradient norm stays below its clip",
  options: {
    length: {
      help: "L, the constant that losses are divided by: about the tokens of an episode",
      default: 32,
      low: 1,
      high: 1e9,
    },
  },
  slots: (s, o) => ({
    advantage: groupNormalised({ scale: "none" }),
    objective: clippedRatio({
      clip: { low: s.clipLow, high: s.clipHigh },
      normaliser: { constant: o.length },
    }),
  }),
});
