import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { whitened } from "../../../advantage/whitened.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";

export const reinforcePlusPlus = method({
  id: "reinforce-plus-plus",
  family: "baseline",
  summary: "returns whitened over the whole batch instead of within groups; one attempt per task will do",
  paper: "REINFORCE++: Stabilizing Critic-Free Policy Optimization with Global Advantage Normalization",
  mechanism:
    "A baseline and a deviation from the few attempts at one task are noisy and biased, and overfit to easy tasks. Taken over the whole batch instead they are nearly constants, so that the advantage is nearly unbiased, no critic is needed, and the budget goes into different tasks rather than into attempts at the same one.",
  equation: [
    "A[t] = (R[t] − mean(R)) / std(R)                                   R: return that follows, over the tokens of the batch",
    "loss = −mean over tokens of min(ρ A, clamp(ρ, 1 − ε, 1 + ε) A) + β · mean of ½ (ln π(t) − ln π_ref(t))²",
  ].join("\n"),
  source:
    "one attempt per task, ε = 0.2 and the k2 penalty, whose gradient is that of the divergence in the reward, from the paper; β = 1e-3 ours, small since agents trained from scratch have to leave where they began",
  frozen: { reference: {} },
  needs: ["freeze"],
  defaults: { tasks: 128, groupSize: 1 },
  slots: (s) => ({
    credit: perTurn(),
    advantage: [returnsToGo({ baseline: "none" }), whitened()],
    objective: [
      clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
      klPenalty({ coefficient: 1e-3, estimator: "k2" }),
    ],
  }),
});
