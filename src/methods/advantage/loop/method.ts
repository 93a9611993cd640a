import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const loop = method({
  id: "loop",
  family: "advantage",
  summary: "leave-one-out advantages of whole episodes, and several clipped passes over each batch",
  paper: "Reinforcement Learning for Long-Horizon Interactive LLM Agents",
  mechanism:
    "Attempts at one task begin in the same state of the environment; each is measured against the mean of the others, in the unit of the rewards and without a critic. Episodes are dear, so every batch is used for several passes, and clipped ratios per token keep those passes near the policy that sampled. Every episode weighs the same, whatever its length.",
  equation: [
    "A[i] = R[i] − mean of R[j], j ≠ i, over the group",
    "loss = −mean over episodes of mean over own tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)    ε = 0.2",
  ].join("\n"),
  source:
    "six attempts, token ratios and the mean over an episode's own tokens from the paper; number of passes, and groups without spread left out of the normaliser, ours",
  defaults: { groupSize: 6, epochs: 4 },
  slots: (s) => ({
    advantage: leaveOneOut(),
    objective: clippedRatio({
      clip: { low: s.clipLow, high: s.clipHigh },
      normaliser: "rows",
      deadGroups: "leaveOut",
    }),
  }),
});
