import { method } from "../../../method/method.ts";
import { covarianceRatio } from "./covarianceRatio.ts";

export const entropyMechanism = method({
  id: "entropy-mechanism",
  family: "objective",
  summary:
    "restrains the few tokens that reduce entropy most: likely ones of high advantage (KL-Cov, Clip-Cov)",
  paper: "The Entropy Mechanism of Reinforcement Learning for Reasoning Language Models",
  mechanism:
    "Without control, entropy falls fast and the reward follows a fixed curve of it, R = −a · exp(H) + b: reward is gained at the cost of entropy and stops rising when the entropy is used up. A step changes the entropy by minus the covariance of log-probability and advantage, most of which comes from few tokens. KL-Cov adds a KL penalty on these tokens; Clip-Cov leaves some of them out of the update. The other tokens are trained as usual.",
  equation: [
    "c[a] = (A[a] − mean A) · (logp[a] − mean logp)                      means over the tokens of the update's batch",
    "loss[a] = −min(ρ[a] · A[a], clamp(ρ[a], 1 − ε, 1 + ε) · A[a])       ρ: ratio of new to old probability",
    "KL-Cov:   + β · |logp[a] − old[a]|   on the share k of largest c, β = 1",
    "Clip-Cov: loss[a] = 0                on a share k of all tokens, drawn from those with 1 < c < 5",
  ].join("\n"),
  source:
    "β and the range of c from the paper's code; k = 0.1 ours, for batches of hundreds of tokens (the paper: 0.002 and less, for hundreds of thousands); the paper leaves the ratio of other tokens unclipped; here the baseline's clip stays, since the step sizes of a small table diverge without it",
  defaults: { epochs: 4, minibatches: 1 }, // at the sampling policy the penalty has no gradient
  options: {
    share: { help: "share of tokens that are restrained", default: 0.1, low: 0, high: 1 },
    kl: { help: "coefficient of their KL penalty, per nat", default: 1, low: 0 },
  },
  slots: ({ clipLow, clipHigh }, o) => ({
    objective: covarianceRatio({
      clip: { low: clipLow, high: clipHigh },
      remedy: { kind: "kl", share: o.share, coefficient: o.kl },
    }),
  }),
});
