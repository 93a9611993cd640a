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
  summary: "exploration by many attempts, an entropy bonus and a KL anchor that follows the policy",
  paper: "Advancing Language Model Reasoning through Reinforcement Learning and Inference Scaling",
  mechanism:
    "Many attempts at each task make it likely that a rare right answer is among them. An entropy bonus keeps the policy exploring, and the KL penalty is taken against a running average of the policy instead of its initial weights, so it limits each step but not the total change. Repetition and unbounded answers, which sampling at a high temperature produces, are penalised in the reward, before the baseline is computed.",
  equation: [
    "r[i] = outcome − 0.5 · [degenerate] − β · Σ_t (ln π_old − ln π_anchor)          β = 0.2",
    "A[i] = r[i] − mean of the others' r, then whitened over the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) − α · mean entropy      α = 1e-3",
    "anchor ← (1 − μ) · anchor + μ · π   after each iteration                              μ = 0.1",
  ].join("\n"),
  source:
    "64 attempts, the bonus, the moving anchor and the penalties are the paper's; the leave-one-out form and all coefficients are ours; tasks with uniform outcomes are kept, since the KL term still differs between attempts (the paper drops them)",
  frozen: { anchor: { blend: 0.1 } },
  needs: ["entropy", "freeze"],
  defaults: { groupSize: 64, temperature: 1.1, minibatches: 1 },
  options: {
    kl: { help: "KL penalty towards the anchor, per nat", default: 0.2, low: 0 },
    entropy: { help: "coefficient of the entropy bonus, per nat", default: 1e-3, low: 0 },
  },
  slots: (s, o) => ({
    feedback: [outcome(), degeneration(), anchorDivergence({ from: "anchor", coefficient: o.kl })],
    advantage: [leaveOneOut(), whitened()],
    objective: [
      clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
      entropyBonus({ coefficient: o.entropy }),
    ],
  }),
});
