import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { RowInfo } from "../../../core/batch.ts";
import type { Able } from "../../../core/evaluator.ts";
import { toTrajectory } from "../../../credit/toTrajectory.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { restricted } from "../../../objective/restricted.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptAndCritique, attemptWords, retryWithFeedback } from "../../../rollout/retryWithFeedback.ts";
import { againstFirstAttempts } from "./againstFirstAttempts.ts";
import { toFirstAttempt } from "./toFirstAttempt.ts";
import { critiqueAsked, withCritiqueRows } from "./withCritiqueRows.ts";

/** The critiquer and the weights of the auxiliary losses; 0 leaves a loss out. */
export interface TextFeedback {
  readonly critiquer: Able<"critique">;
  /** λ of distilling second attempts into first ones. */
  readonly distillation: number;
  /** λ of learning to predict the critique. */
  readonly modelling: number;
}

const isCritique = ({ origin }: RowInfo): boolean => origin === "demonstrated";
const isDistilled = ({ context, origin }: RowInfo): boolean =>
  context === "rewritten" && origin !== "demonstrated";

/** An attempt, a critique, a second attempt: RL on both attempts, with the auxiliary losses. */
export const textFeedback =
  ({ critiquer, distillation, modelling }: TextFeedback) =>
  ({ groupSize, temperature, clipLow, clipHigh }: Settings): SlotChoices => {
    const attempts = retryWithFeedback(multiTurn({ groupSize, temperature }), {
      critiquer,
      again: () => true,
      advice: attemptAndCritique,
      keep: distillation > 0 ? "both" : "advised",
      apart: true,
      temperature,
    });
    const distil = policyGradient({ normaliser: "tokens", coefficient: distillation });
    const model = likelihood({ normaliser: "rows", coefficient: modelling });
    return {
      rollout: modelling > 0 ? withCritiqueRows(attempts) : attempts,
      credit: [toTrajectory(), toFirstAttempt()],
      advantage: [groupNormalised(), againstFirstAttempts({ channels: ["outcome"] })],
      objective: [
        restricted(
          clippedRatio({ clip: { low: clipLow, high: clipHigh } }),
          (row) => !isDistilled(row) && !isCritique(row),
        ),
        ...(distillation > 0 ? [restricted(distil, isDistilled)] : []),
        ...(modelling > 0 ? [restricted(model, isCritique)] : []),
      ],
    };
  };

export const rltf = method({
  id: "rltf",
  family: "language-feedback",
  summary: "distils second attempts after a critique into first ones, with first-attempt rewards as baseline",
  paper: "Expanding the Capabilities of Reinforcement Learning via Text Feedback",
  mechanism:
    "Every task is tried, criticised and tried again with the critique in the context; both attempts are trained by RL. The second one is also trained as if it were the first, with the first attempts' mean reward as the baseline: where a critique makes every second attempt correct, their own group has no spread, but this baseline still measures the improvement. Optionally the policy also learns to predict the critique of its attempt.",
  equation: [
    "y0 ~ π(· | x),  c: critique of y0,  y1 ~ π(· | x, y0, c)",
    "RL: GRPO with returns r0 + r1 on y0 and r1 on y1, each in a group of its own",
    "distillation: A = r1 − mean r0,   −λ mean over tokens of A · log π(y1 | x)          λ = 1",
    "modelling: −λ mean over critiques and their tokens of log π(c | x, y0)              λ = 0 by default",
  ].join("\n"),
  source:
    "both terms and the baseline from the paper; the returns of the RL term, no discount between the attempts, means over tokens in place of sums and λ: ours; no importance ratio, as in the paper, so the term is biased; the critiquer is the environment's template with the right answer, or any other (`textFeedback`)",
  says: [attemptWords, critiqueAsked],
  slots: textFeedback({ critiquer: scriptedCritiquer({ detail: "answer" }), distillation: 1, modelling: 0 }),
});
