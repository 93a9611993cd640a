import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";

export const cpl = method({
  id: "cpl",
  family: "objective",
  summary: "preferences between stretches of behaviour, fitted to the policy's own log-probabilities",
  paper: "Contrastive Preference Learning: Learning from Human Feedback without RL",
  mechanism:
    "People are taken to prefer the stretch that gives less away: the one with the larger sum of optimal advantages, not of rewards. For the policy that is best under an entropy bonus, the advantage of an action is α times its log-probability. So the votes say something about the policy itself, over many turns and whoever acted, and it is fitted to them without a reward model, a critic or a reference. A λ below 1 asks the rejected stretch to fall less than the chosen one rises, which keeps the policy near the data.",
  equation: [
    "S(σ) = Σ_t α ln π(a_t | s_t)                     over the actions of a stretch",
    "loss = −mean over pairs of ln σ(S(σ⁺) − λ S(σ⁻))          α = 0.1, λ = 0.5",
  ].join("\n"),
  source:
    "α and λ from the paper's code; the paper learns from a fixed set after imitating all of it, here pairs come from the rollout (ours)",
  slots: {
    feedback: comparisons(),
    advantage: preferencePairs(),
    objective: pairwise({ against: {}, beta: 0.1, rejected: 0.5 }),
  },
});
