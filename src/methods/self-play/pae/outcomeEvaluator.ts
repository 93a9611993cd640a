import { present } from "../../../core/errors.ts";
import { type Able, type Attempt, scorer } from "../../../core/evaluator.ts";
import type { ModelId } from "../../../core/types.ts";
import { yesProbability } from "../../../evaluator/yesProbability.ts";

/** What the evaluator is asked, after what it sees. */
export const successQuestion = "Was the task done ? YES or NO";

/**
 * A model of the run as evaluator of outcomes: the probability of YES, among YES and NO, to {@link successQuestion}. It sees the task, the
 * last observations and the final action, and none of the actions between, so that it judges what came of them and not how they read.
 * Attempts without an action, or too long for it, get no score.
 * @param last number of observations that it sees.
 */
export const outcomeEvaluator = (model: ModelId = "judge", last = 3): Able<"score"> =>
  scorer<Attempt>(`${model}: ${successQuestion}`, async ({ task, trajectory: { turns } }, { run }) => {
    const final = turns.at(-1);
    if (!final) return undefined;
    const seen = final.prompt.slice(task.prompt.length).filter(({ role }) => role !== "assistant");
    const told = [...task.prompt, ...seen.slice(-last), final.action].map(({ content }) => content);
    const content = [...told, successQuestion].join("\n");
    const reader = present(run?.model, "outcomeEvaluator", "model of a run")(model);
    return yesProbability(reader, [{ role: "user", content }]);
  });
