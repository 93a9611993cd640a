import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { overTurnMask } from "./overTurnMask.ts";

export const miniO3 = method({
  id: "mini-o3",
  family: "objective",
  summary:
    "masks attempts that ran out of turns, so a small turn cap in training does not teach early answers",
  paper: "Mini-o3: Scaling Up Reasoning Patterns and Interaction Turns for Visual Search",
  mechanism:
    "Training uses a small cap on turns, to save cost. An attempt that hits the cap has no outcome; counted as a failure it would get a negative advantage, and the policy would learn to answer early. So it is masked out of the loss, while it still counts in its group's mean. With a higher cap at test time the policy uses as many turns as the task needs, and its success grows with the cap.",
  equation: [
    "M[i] = 1 where attempt i ended by itself within the limits, else 0",
    "A[i] = (R[i] − mean(R)) / std(R)                over all attempts, cut ones with R = 0",
    "loss = −(1 / Σ M) Σ_i M[i] · mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)",
  ].join("\n"),
  source:
    "mask, comparison with all attempts and division by the finished ones from notes on the paper; groups with fewer than two finished attempts are left out (ours)",
  slots: ({ clipLow, clipHigh }) => ({
    advantage: [groupNormalised(), overTurnMask()],
    objective: clippedRatio({ clip: { low: clipLow, high: clipHigh }, normaliser: "rows" }),
  }),
});
