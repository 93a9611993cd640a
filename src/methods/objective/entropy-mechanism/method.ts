import { method } from "../../../method/method.ts";
import { covarianceRatio } from "./covarianceRatio.ts";

export const entropyMechanism = method({
  id: "entropy-mechanism",
  family: "objective",
  summary: "hold back the few tokens that drain entropy: likely ones of high advantage (KL-Cov, Clip-Cov)",
  paper: "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models",
  mechanism:
    "Without control, entropy falls fast and the reward follows a fixed curve of it, R = −a · exp(H) + b: reward is bought with entropy and ends when that is spent. A step changes the entropy by minus the covariance of log-probability and advantage, most of which sits in few tokens. KL-Cov makes these few pay for moving; Clip-Cov leaves some of them out of the update. The other tokens learn as ever.",
  equation: [
    "c[a] = (A[a] − mean A) · (logp[a] − mean logp)                      means over the tokens of the update's batch",
    "loss[a] = −min(ρ[a] · A[a], clamp(ρ[a], 1 − ε, 1 + ε) · A[a])       ρ: ratio of new to old probability",
    "KL-Cov:   + β · |logp[a] − old[a]|   on the share k of largest c, β = 1",
    "Clip-Cov: loss[a] = 0                on a share k of all tokens, drawn from those with 1 < c < 5",
  ].join("\n"),
  source:
    "β and the range of c from the paper's code; k = 0.1 ours, for batches of hundreds of tokens (the paper: 0.002 and less, for hundreds of thousands); the paper leaves the ratio of other tokens unclipped, here the baseline's clip stays, since steps that suit a small table run off without it",
  defaults: { epochs: 4, minibatches: 1 }, // at the policy that sampled the penalty has no slope
  slots: ({ clipLow, clipHigh }) => ({
    objective: covarianceRatio({
      clip: { low: clipLow, high: clipHigh },
      remedy: { kind: "kl", share: 0.1, coefficient: 1 },
    }),
  }),
});
