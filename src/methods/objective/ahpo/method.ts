import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { restricted } from "../../../objective/restricted.ts";
import { withDemonstrations } from "../../../rollout/demonstrated.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { expertGate } from "./expertGate.ts";

export const ahpo = method({
  id: "ahpo",
  family: "objective",
  summary: "GRPO that imitates the expert only at tasks that the policy does not solve yet",
  paper:
    "MM-HELIX: Boosting Multimodal Long-Chain Reflective Reasoning with Holistic Platform and Adaptive Hybrid Policy Optimization",
  mechanism:
    "Where no attempt at a task succeeds, the group has no spread and GRPO has no gradient; there the expert's solution is imitated. Where the policy succeeds by itself, imitation would only tie it to the expert, which may be suboptimal; there it is switched off. One training stage does both, task by task.",
  equation: [
    "loss = loss of GRPO on the policy's own attempts + mean over tasks of ξ · L_expert",
    "L_expert = −(1/|y*|) Σ_t ln π(y*[t] | x, y*[<t])        y*: the expert's solution",
    "ξ = 1 where fewer than R̂ of the attempts got the full reward, else 0        R̂ = 1",
  ].join("\n"),
  source:
    "gate and form of the loss from notes on the paper; R̂ = 1 and the mean over the expert's tokens are ours",
  slots: ({ groupSize, temperature, clipLow, clipHigh }) => ({
    rollout: withDemonstrations(multiTurn({ groupSize, temperature }), { group: "own" }),
    advantage: [groupNormalised(), expertGate()],
    objective: [
      restricted(clippedRatio({ clip: { low: clipLow, high: clipHigh } }), ["sampled"]),
      // a demonstration's advantage is its ξ: the likelihood, weighted
      restricted(policyGradient({ normaliser: "rows" }), ["demonstrated"]),
    ],
  }),
});
