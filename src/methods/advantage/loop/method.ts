import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";

export const loop = method({
  id: "loop",
  family: "advantage",
  summary: "leave-one-out advantages of whole episodes, and several clipped passes over each batch",
  paper: "Reinforcement Learning for Long-Horizon Interactive LLM Agents",
  mechanism:
    "Attempts at one task begin in the same state of the environment; each is compared with the mean of the others, without division by the deviation and without a critic. Episodes are expensive, so every batch is used for several passes, and clipped token ratios keep those passes near the sampling policy. Every episode has the same weight, whatever its length.",
  equation: [
    "A[i] = R[i] − mean of R[j], j ≠ i, over the group",
    "loss = −mean over episodes of mean over own tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A)    ε = 0.2",
  ].join("\n"),
  source:
    "six attempts, token ratios and the mean over an episode's own tokens from the paper; the number of passes, and leaving groups without spread out of the normaliser, are ours",
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
