import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { winRates } from "../../../feedback/winRates.ts";
import { method } from "../../../method/method.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { opponents } from "../../../rollout/opponents.ts";

/** Share κ of the policy that the target takes over after each iteration: a half-step lasts about 1/κ of them. */
const follow = 0.1;
/** Sums over tokens, means over replies. */
const normaliser = { constant: 1 };

export const nashMirrorProx = method({
  id: "nash-mirror-prox",
  family: "objective",
  summary: "extragradient steps to the Nash policy: a slow target as opponent, KL to it and the reference",
  paper: "Accelerating Nash Learning from Human Feedback via Mirror Prox",
  mechanism:
    "In a cyclic preference game a step against the current policy overshoots. Mirror prox first takes a trial step, then repeats the step from the same starting point against the trial policy: the look-ahead removes the rotation, and the last iterate converges at a linear rate. With a language model both half-steps become policy gradients against a slowly moving target, which is both opponent and proximal centre.",
  equation: [
    "π_{k+1/2} = argmin (1/β) P(π_k ≻ π) + KL(π ‖ μ) + 1/η · KL(π ‖ π_k)                μ: reference",
    "π_{k+1}   = argmin (1/β) P(π_{k+1/2} ≻ π) + KL(π ‖ μ) + 1/η · KL(π ‖ π_k)         η = 2β",
    "here: y ~ π, y′ ~ target;  target ← κ π + (1 − κ) target after each iteration       κ = 0.1",
    "gradient = −∇ ln π(y) · sg[P(y ≻ y′) − 1/2 − β ln π(y)/μ(y) − β/η · ln π(y)/target(y)]      β = 0.1",
  ].join("\n"),
  source:
    "proximal steps and η = 2β from the paper; β, κ and the single loop over a target are ours, after its description",
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  frozen: { reference: {}, target: { blend: follow } },
  options: {
    beta: { help: "coefficient of the KL penalty towards the reference, per nat", default: 0.1, low: 0 },
    eta: { help: "η, proximal step; the theory holds for 2β", default: 0.2, low: 1e-6 },
  },
  slots: ({ groupSize, temperature }, { beta, eta }) => ({
    rollout: opponents({ groupSize, temperature, opponent: "target" }),
    feedback: winRates({ against: "opponents", less: 0.5 }),
    advantage: returnsToGo({ baseline: "none" }),
    objective: [
      policyGradient({ normaliser }),
      klPenalty({ coefficient: beta, estimator: "k2", normaliser }),
      klPenalty({ to: "target", coefficient: beta / eta, estimator: "k2", normaliser }),
    ],
  }),
});
