import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { contributions } from "../../../feedback/contributions.ts";
import { ridge } from "../../../helper/ridge.ts";
import { method } from "../../../method/method.ts";
import { patternFactors, usualPatterns } from "./factors.ts";

export const lare = method({
  id: "lare",
  family: "credit",
  summary: "decomposes the return into proxy rewards over a few interpretable factors and trains on them",
  paper: "Latent Reward: LLM-Empowered Credit Assignment in Episodic Reinforcement Learning",
  mechanism:
    "Where only the return of a whole episode is known, a hand-written function reads a few factors from each step, and a small model learns a proxy reward of these factors whose mean over steps matches the return. The function leaves out irrelevant detail before anything is learnt, so few episodes are enough. The policy trains on the proxy rewards, which are recomputed as the model changes.",
  equation: [
    "z_t = φ(step t) ∈ Rᵈ,   r̂_t = θ · z_t",
    "fit θ:  mean over K sampled steps of r̂ → R / T       K = 5, four times per episode",
    "A_t = Σ_{j ≥ t} 0.8^(j − t) r̂_j − its mean over the group at turn t, in deviations",
  ].join("\n"),
  source:
    "sub-sampled decomposition from the paper's code. Ours: patterns of common environment messages replace factors that a language model writes and verifies; a ridge regression replaces the small network, without the correction for the variance of sampling; group-relative returns to go, discounted by 0.8, for the learner",
  helpers: { reward: ridge({ strength: 0.1 }) },
  options: {
    discount: { help: "γ, discount per turn", default: 0.8, low: 0, high: 1 },
  },
  slots: (_s, o) => ({
    feedback: contributions({
      helper: "reward",
      features: patternFactors(usualPatterns),
      explore: 0,
      refit: true,
      sample: { steps: 5, draws: 4 },
      channel: "proxy",
    }),
    credit: perTurn(),
    advantage: returnsToGo({ discount: o.discount, normalise: true }),
  }),
});
