import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import type { Able } from "../../../core/evaluator.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { attemptAndCritique, attemptWords, retryWithFeedback } from "../../../rollout/retryWithFeedback.ts";

/** Self-training on the policy's successes and on failures that were corrected after this critiquer's feedback. */
export const reflected =
  (critiquer: Able<"critique">) =>
  ({ groupSize, temperature }: Settings): SlotChoices => ({
    rollout: retryWithFeedback(multiTurn({ groupSize, temperature }), {
      critiquer,
      advice: attemptAndCritique,
      keep: "plain",
      temperature,
    }),
    advantage: rejectionSampled(),
    objective: likelihood(),
  });

export const reRest = method({
  id: "re-rest",
  family: "self-play",
  summary: "self-training in which failures are corrected from feedback and, once verified, imitated too",
  paper: "Re-ReST: Reflection-Reinforced Self-Training for Language Agents",
  mechanism:
    "Self-training imitates the policy's own successes, so that tasks on which it always fails teach nothing. Here each failed attempt is shown to a reflector together with the environment's feedback, and the reflector writes a corrected attempt. Corrected attempts that pass the verifier join the successes. They are imitated as answers to the bare task: neither the failed attempt nor the feedback is in the prompt, so that nothing of it is needed later.",
  equation: [
    "D⁺ = {(x, y_i) : R(x, y_i) = 1},  y_1 … y_k ~ π(· | x)",
    "D⁺_R = {(x, ŷ) : R(x, ŷ) = 1},  ŷ ~ reflector(· | x, y_i, feedback) for each y_i with R(x, y_i) = 0",
    "loss = −mean over tokens of D⁺ ∪ D⁺_R of ln π(y[t] | x, y[<t])",
  ].join("\n"),
  source:
    "data and filter from the paper; rules of selection are reconstructed. The reflector is the policy with attempt and feedback in its prompt, not a second model that is trained on pairs of wrong and right attempts (ours); every iteration samples anew from the current policy and goes on from its weights, where the paper begins again from the first ones; without its DPO variant, and without reflection at test time. Users may choose the critiquer (`reflected`)",
  says: [attemptWords],
  slots: reflected(scriptedCritiquer({ detail: "answer" })),
});
