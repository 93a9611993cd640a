import { comparedReward } from "../../../feedback/comparedReward.ts";
import { method } from "../../../method/method.ts";
import { strengthReward } from "./strengthReward.ts";

export const secretsRm = method({
  id: "secrets-rm",
  family: "judges",
  summary: "a reward model of noisy comparisons, by preference strength, contrast and meta-learning",
  paper: "Secrets of RLHF in Large Language Models Part II: Reward Modeling",
  mechanism:
    "An ensemble of reward models says how strong each preference is. Strongly negative pairs are probably mislabelled and are flipped, pairs near 0 are ambiguous and get soft labels, and the others must be ahead by their strength. A contrastive loss keeps the features of different preferences apart. Before each gradient the weights are moved so that the model tells apart replies of the current policy, which have no labels (MetaRM): so it keeps up as the policy shifts. The policy is trained on the reward model.",
  equation: [
    "μ, σ: mean and deviation of r_m(y_w) − r_m(y_l) over an ensemble, each member on pairs that it has not seen",
    "lowest 20 % of μ: flipped where μ < −σ;   next 20 %: a = min(½, σ(−μ));   others: margin max(0, μ);   Δ = r(y_w) − r(y_l)",
    "L = −mean of (1 − a) ln σ(Δ − margin) + a ln σ(−Δ)   + β InfoNCE of two dropout views of h(y_w) − h(y_l)",
    "θ′ = θ + η ∇J,   J = mean over unlabelled pairs of σ(|r(y_i) − r(y_j)|);   θ ← θ − α ∇L(θ′)",
    "A = (r − mean r) / std r                                   over the group",
  ].join("\n"),
  source:
    "treatment of labels, contrast and MetaRM reconstructed from the paper's abstract and general knowledge of it; the condition μ < −σ (pairs of the lowest fifth that do not meet it keep their label, without doubt), four members in place of ten, each fitted to halves, β = η = 0.1, dropout 0.1 and the network on crossed words in place of a language model's head are ours, as is the online loop that compares the policy's own attempts",
  helpers: { reward: strengthReward() },
  slots: { feedback: comparedReward({ unlabelled: true }) },
});
