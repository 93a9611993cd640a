import { masked } from "../../../advantage/masked.ts";
import type { Able } from "../../../core/evaluator.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { klPenalty } from "../../../objective/klPenalty.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { amplified } from "./amplified.ts";
import { pivots } from "./pivots.ts";
import { reflectThenRetry } from "./reflectThenRetry.ts";

/** Half of each group's budget goes to first attempts, the other half to retries after reflection. */
export const reflecting =
  (critiquer: Able<"critique">) =>
  ({ groupSize, temperature }: Settings): SlotChoices => ({
    rollout: reflectThenRetry(multiTurn({ groupSize: Math.ceil(groupSize / 2), temperature }), {
      critiquer,
      temperature,
    }),
    annotate: pivots(),
    advantage: [amplified(), masked({ note: "pivot" })],
    objective: [policyGradient(), klPenalty({ estimator: "k2", coefficient: 1e-3 })],
  });

export const r3l = method({
  id: "r3l",
  family: "language-feedback",
  summary: "reflects on each attempt, returns to the turn where it went wrong and retries with advice",
  paper:
    "R^3L: Reflect-then-Retry Reinforcement Learning with Language-Guided Exploration, Pivotal Credit, and Positive Amplification",
  mechanism:
    "A reflection on each attempt gives an outcome and advice, and names the pivot: the turn from which to act differently. The attempt is replayed up to the pivot and continues with the advice in its context. The retry is trained on without the advice in context, so the policy learns to do without it; a retry that improved is also trained on with the advice, together with the reflection. Turns before the pivot are masked in both attempts, and successes get full weight, so that rare ones are not outweighed by failures.",
  equation: [
    "y ~ π,  f = (outcome, advice, k) of y,  y′ ~ π(· | y[0 … k − 1], advice)",
    "s = R − mean R        over y and y′ without the advice of a task; R itself for y′ with it, and for f",
    "A = 1 if R ≥ 1,  3 s if s ≥ 0,  else s;   0 on turns before k of y and y′",
    "loss = −mean over tokens of A · ln π + β · ½ (ln π − ln π_ref)²          β = 0.001",
  ].join("\n"),
  source:
    "groups, masks, advantages and the loss from the paper's code, whose constant factor of ½ on the policy's loss is left to the step size; β and the mask's zeros in the mean over tokens: ours; the critiquer is the environment's own, another one is passed to `reflecting`, and its reflections are learnt from where a model of the run writes them",
  frozen: { reference: {} },
  needs: ["freeze"],
  defaults: { minibatches: 1 }, // no ratio: every step must see its own policy's samples
  says: [],
  slots: reflecting(scriptedCritiquer()),
});
