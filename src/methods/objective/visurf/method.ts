import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { withDemonstrations } from "../../../rollout/demonstrated.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { injectedLabel } from "./injectedLabel.ts";

export const visurf = method({
  id: "visurf",
  family: "objective",
  summary: "adds the labelled answer to each group; its advantage is 0 once an attempt does as well",
  paper: "ViSurf: Visual Supervised-and-Reinforcement Fine-Tuning for Large Vision-and-Language Models",
  mechanism:
    "The expert's answer joins the policy's attempts at a task, is scored by the same rewards and trained by the same clipped loss. Where all attempts fail it gets a large positive advantage, which acts like supervised learning; where one of them does as well, its reward is set to the group's mean and its advantage to 0, so the policy keeps its own way of solving the task. The label gets no format reward, since it lacks elements such as written-out reasoning.",
  equation: [
    "group: y_1 … y_G ~ π_old and the label y_*",
    "R_* = reward without the format reward;  R_* ← mean(R_i) where max(R_i) ≥ R_*",
    "A = (R − mean(R)) / std(R)               over all G + 1",
    "loss = −mean over all G + 1 of the mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)",
    "ρ = π / π_old, for the label as well: the old policy scores it before the first step",
  ].join("\n"),
  source:
    "label in the group and three controls on its reward from the abstract; the rules of the controls are quoted from memory; without a KL penalty towards a reference (ours)",
  slots: ({ groupSize, temperature, clipLow, clipHigh }) => ({
    rollout: withDemonstrations(multiTurn({ groupSize, temperature })),
    feedback: turnRewards({ channel: { perName: true } }),
    credit: injectedLabel(),
    advantage: groupNormalised(),
    objective: clippedRatio({ clip: { low: clipLow, high: clipHigh }, normaliser: "rows" }),
  }),
});
