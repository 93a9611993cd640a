import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { entropyBonus } from "../../../objective/entropyBonus.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { winProportions } from "./winProportions.ts";

/** Sums over tokens, means over replies. */
const normaliser = { constant: 1 };

export const spo = method({
  id: "spo",
  family: "self-play",
  summary: "self-play on preferences: the reward of an attempt is the share of its group that it beats",
  paper: "A Minimaximalist Approach to Reinforcement Learning from Human Feedback",
  mechanism:
    "Preferences may run in circles, so no scalar reward explains them. The goal is the minimax winner, the policy that no other beats more than half of the time. The game of preferences is symmetric, so a single learner without regret, in play against its own samples, finds it: the average of its policies does. No reward model is fitted. The group's mean is always 1/2, so that centring on the group is the advantage; dividing by its deviation would hide how uncertain a preference is.",
  equation: [
    "minimax winner: p* = argmax_p min_q P(p ≻ q),  of value 1/2",
    "r[i] = 1/(k − 1) Σ_{j ≠ i} P(y_i ≻ y_j),   A[i] = r[i] − 1/2          k attempts at the same task",
    "loss = −mean over attempts of A[i] ln π(y_i) − η H(π)                 η = 0.05",
  ].join("\n"),
  source:
    "objective and win proportions from the paper's page; the entropy bonus η and a policy gradient as the learner are ours (the paper takes PPO or SAC, and spreads the reward over steps). The opponents are the other attempts of the group, without the paper's queue of recent trajectories. What is guaranteed is the average of all policies, not the last one",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  options: {
    entropy: { help: "η, coefficient of the entropy bonus, per nat", default: 0.05, low: 0 },
    votes: {
      help: "whether the judge's probability counts, or one vote drawn with it",
      default: "expected",
      oneOf: ["expected", "drawn"],
    },
  },
  slots: (_s, { entropy, votes }) => ({
    feedback: winProportions({ votes }),
    advantage: groupNormalised({ scale: "none" }),
    objective: [
      policyGradient({ normaliser }),
      ...(entropy > 0 ? [entropyBonus({ coefficient: entropy, normaliser })] : []),
    ],
  }),
});
