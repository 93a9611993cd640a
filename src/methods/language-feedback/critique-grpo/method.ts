import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { RowInfo } from "../../../core/batch.ts";
import type { Able } from "../../../core/evaluator.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import type { Normaliser } from "../../../objective/normaliser.ts";
import { restricted } from "../../../objective/restricted.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptAndCritique, attemptWords, retryWithFeedback } from "../../../rollout/retryWithFeedback.ts";
import { bestRetry } from "./bestRetry.ts";
import { shapedProbability } from "./shapedProbability.ts";

const normaliser: Normaliser = { constant: 1 };
const isRefined = ({ context }: RowInfo): boolean => context === "rewritten";

/** Samples answers and refines each after a critique; the best refinement joins its group. */
export const refining =
  (critiquer: Able<"critique">) =>
  ({ groupSize, temperature, clipLow, clipHigh }: Settings): SlotChoices => ({
    rollout: bestRetry(
      retryWithFeedback(multiTurn({ groupSize, temperature }), {
        critiquer,
        again: () => true,
        advice: attemptAndCritique,
        keep: "plain",
        temperature,
      }),
    ),
    advantage: groupNormalised({ scale: "none" }),
    objective: [
      restricted(
        clippedRatio({ clip: { low: clipLow, high: clipHigh }, normaliser }),
        (row) => !isRefined(row),
        { normalise: "batch" },
      ),
      restricted(shapedProbability({ gamma: 0.1, normaliser }), isRefined, { normalise: "batch" }),
    ],
  });

export const critiqueGrpo = method({
  id: "critique-grpo",
  family: "language-feedback",
  summary: "refines answers after a critique; the best refinement joins its group",
  paper: "Critique-GRPO: Advancing LLM Reasoning with Natural Language and Numerical Feedback",
  mechanism:
    "Every sampled answer is criticised and refined with the critique in the context. In each group the best refinement replaces one of the answers, so a task at which the policy alone always fails still gives a gradient. The refinement is trained as the answer to the bare question; a shaped probability replaces the importance ratio, so unlikely tokens of a correct refinement get larger updates than likely ones.",
  equation: [
    "group: y_1 … y_{n−1} ~ π(· | q), and the best of ỹ_i ~ π(· | q, y_i, critique of y_i)",
    "A = R − mean R",
    "y:  −Σ_t min(ρ A, clamp(ρ) A)        ỹ:  −Σ_t A · p/(p + γ),  p = π(ỹ_t | q, ỹ_{<t}),  γ = 0.1",
  ].join("\n"),
  source:
    "γ, the group of n − 1 answers and 1 refinement, and no division by the deviation, from the paper's code; sums over a row's tokens in place of its constant divisor, GRPO's clip, and replacing a random answer: ours; a wrong refinement gets a negative advantage like any other; the critiquer is the environment's template with the right answer, or any other (`refining`); no entropy bonus",
  says: [attemptWords],
  slots: refining(scriptedCritiquer({ detail: "answer" })),
});
