import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

export const cpl = method({
  id: "cpl",
  family: "objective",
  summary: "fits preferences between segments of behaviour with the policy's own log-probabilities",
  paper: "Contrastive Preference Learning: Learning from Human Feedback without RL",
  mechanism:
    "People are assumed to prefer the segment with less regret: the one with the larger sum of optimal advantages, not of rewards. For the policy that is optimal under an entropy bonus, the advantage of an action is α times its log-probability. So preferences constrain the policy directly, over many turns and for any behaviour policy, and it is fitted to them without a reward model, a critic or a reference. With λ below 1 the rejected segment falls less than the chosen one rises, which keeps the policy near the data.",
  equation: [
    "S(σ) = Σ_t α ln π(a_t | s_t)                     over the actions of a segment",
    "loss = −mean over pairs of ln σ(S(σ⁺) − λ S(σ⁻))          α = 0.1, λ = 0.5",
  ].join("\n"),
  source:
    "α and λ from the paper's code; the paper learns from a fixed set, after imitating all of it; here pairs come from the rollout (ours)",
  learnsFrom: { kind: "pair" },
  slots: {
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: pairwise({ against: {}, beta: 0.1, rejected: 0.5 }),
  },
});
