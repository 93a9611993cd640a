import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { winRates } from "../../../feedback/winRates.ts";
import { method } from "../../../method/method.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { opponents } from "../../../rollout/opponents.ts";

/** Sums over tokens, means over replies. */
const normaliser = { constant: 1 };

export const nashMd = method({
  id: "nash-md",
  family: "objective",
  summary: "Nash mirror descent: rewards wins against a mixture of the policy and its reference",
  paper: "Nash Learning from Human Feedback",
  mechanism:
    "Preferences may be cyclic, so no reward explains them; the goal is a policy to which no other is preferred (a Nash equilibrium). The policy is rewarded for winning against replies of a mixture of itself and the reference. The reference's share damps the cycling, so the last iterate converges, while plain self-play has to average all iterates.",
  equation: [
    "y ~ π,   y′ ~ π^(1−c) μ^c token by token                        μ: reference, c = 0.5",
    "loss = −(P(y ≻ y′) − 1/2) · ln π(y) + β · sg[ln π(t)/μ(t)] · ln π(t)         sums over tokens t, β = 0.1",
  ].join("\n"),
  source:
    "the policy-gradient form, c and β as in a public implementation; P is averaged over all opponents of the task (ours)",
  needs: ["mix"],
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  frozen: { reference: {} },
  options: {
    beta: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.1, low: 0 },
    share: { help: "share of the reference in the opponent", default: 0.5, low: 0, high: 1 },
  },
  slots: ({ groupSize, temperature }, { beta, share }) => ({
    rollout: opponents({ groupSize, temperature, mix: { with: "reference", share } }),
    feedback: winRates({ against: "opponents", less: 0.5 }),
    advantage: returnsToGo({ baseline: "none" }),
    objective: [
      policyGradient({ normaliser }),
      klPenalty({ coefficient: beta, estimator: "k2", normaliser }),
    ],
  }),
});
