import { present } from "../../../core/errors.ts";
import { type Able, scorer } from "../../../core/evaluator.ts";
import type { Message, ModelId, Trajectory } from "../../../core/types.ts";
import { yesAndNo, yesProbability } from "../../../evaluator/yesProbability.ts";

/** The question after a trajectory, and its two answers. */
export const verdictWords = { question: "Is the task resolved?", ...yesAndNo } as const;

/** The prompt of a verdict: the whole conversation and the question. Undefined for an attempt without actions. */
export function verdictPrompt({ turns }: Trajectory): readonly Message[] | undefined {
  const last = turns.at(-1);
  return last && [...last.prompt, last.action, { role: "user", content: verdictWords.question }];
}

/**
 * A verifier that reads a whole trajectory and says one word, without running anything. Its score is the probability of YES among the
 * two verdicts, and not among the whole vocabulary:
 *
 *     s(τ) = exp(l_yes) / (exp(l_yes) + exp(l_no))        l: ln p of the word after trajectory and question
 *
 * It needs a run, whose model of that name is asked, without gradient. A trajectory without actions, or too long for the model, gets no
 * score. Paper: "SWE-RM: Execution-free Feedback For Software Engineering Agents".
 */
export function verdictScore(model: ModelId = "verifier"): Able<"score"> {
  return scorer(`verdicts of ${model}`, async ({ trajectory }, { run }) => {
    const messages = verdictPrompt(trajectory);
    if (!messages) return undefined;
    return yesProbability(present(run?.model, "verdictScore", "model of a run")(model), messages);
  });
}
