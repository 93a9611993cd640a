import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { anchorDivergence } from "../../../feedback/anchorDivergence.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { entropyBonus } from "../../../objective/entropyBonus.ts";
import { degeneration } from "./degeneration.ts";

export const t1RlScaling = method({
  id: "t1-rl-scaling",
  family: "objective",
  summary: "explore first: many attempts, an entropy bonus, an anchor that follows the policy",
  paper: "Advancing Language Model Reasoning through Reinforcement Learning and Inference Scaling",
  mechanism:
    "Many attempts at each task make it likely that a rare right answer is among them. A bonus for entropy keeps the policy undecided, and the penalty on divergence is taken against a running average of the policy instead of where it began, so that it brakes each step but never the whole way. What hot sampling breeds, repetition and endless answers, is penalised before the baseline sees it.",
  equation: [
    "r[i] = outcome − 0.5 · [degenerate] − β · Σ_t (ln π_old − ln π_anchor)          β = 0.2",
    "A[i] = r[i] − mean of the others' r, then whitened over the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) − α · mean entropy      α = 1e-3",
    "anchor ← (1 − μ) · anchor + μ · π   after each iteration                              μ = 0.1",
  ].join("\n"),
  source:
    "64 attempts, the bonus, the moving anchor and the penalties are the paper's; the leave-one-out form and all coefficients are ours; tasks whose attempts all came out alike are kept, since the divergence still tells them apart (the paper drops them)",
  frozen: { anchor: { blend: 0.1 } },
  needs: ["entropy", "freeze"],
  defaults: { groupSize: 64, temperature: 1.1, minibatches: 1 },
  slots: (s) => ({
    feedback: [outcome(), degeneration(), anchorDivergence({ from: "anchor", coefficient: 0.2 })],
    advantage: [leaveOneOut(), whitened()],
    objective: [
      clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
      entropyBonus({ coefficient: 1e-3 }),
    ],
  }),
});
