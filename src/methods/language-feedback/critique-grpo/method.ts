import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { RowInfo } from "../../../core/batch.ts";
import type { Critic } from "../../../core/critic.ts";
import { scriptedCritic } from "../../../critic/scripted.ts";
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

/** Answers and their refinements after a critic's words, one refinement in each group. */
export const refining =
  (critic: Critic) =>
  ({ groupSize, temperature, clipLow, clipHigh }: Settings): SlotChoices => ({
    rollout: bestRetry(
      retryWithFeedback(multiTurn({ groupSize, temperature }), {
        critic,
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
  summary: "answers are refined after a critique, and the best refinement joins the group it came from",
  paper: "Critique-GRPO: Advancing LLM Reasoning with Natural Language and Numerical Feedback",
  mechanism:
    "Every sampled answer is criticised and refined with the critique in the context. In each group the best refinement takes the place of one of the answers, so that a task at which the policy alone always fails still has something to learn from. The refinement is trained as if it had been the answer to the bare question; a shaped probability stands where the ratio would, and unlikely tokens of a right refinement are pushed more than likely ones.",
  equation: [
    "group: y_1 … y_{n−1} ~ π(· | q), and the best of ỹ_i ~ π(· | q, y_i, critique of y_i)",
    "A = R − mean R",
    "y:  −Σ_t min(ρ A, clamp(ρ) A)        ỹ:  −Σ_t A · p/(p + γ),  p = π(ỹ_t | q, ỹ_{<t}),  γ = 0.1",
  ].join("\n"),
  source:
    "γ, the group of n − 1 and 1 and the missing deviation from the paper's code; sums over a row's tokens in place of its constant divisor, GRPO's clip, and which answer makes room (drawn): ours; a wrong refinement is pushed down like any other; the critic is the environment's template with the right answer, or any other (`refining`); no entropy bonus",
  says: [attemptWords],
  slots: refining(scriptedCritic({ detail: "answer" })),
});
