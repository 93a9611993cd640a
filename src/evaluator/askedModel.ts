import { present } from "../core/errors.ts";
import { type Able, type Attempt, scorer } from "../core/evaluator.ts";
import type { ModelId } from "../core/types.ts";
import { judgedTrajectory } from "./judgedItem.ts";
import { yesProbability } from "./yesProbability.ts";

/**
 * A model of the run as judge of what an attempt says: the probability of YES, among YES and NO, to a question about the request and the last
 * reply, in [0, 1]. It sees nothing else of the attempt. Attempts without an action, or too long for it, get no score.
 */
export const askedModel = (question: string, model: ModelId = "judge"): Able<"score"> =>
  scorer<Attempt>(`${model}: ${question}`, async ({ task, trajectory }, { run }) => {
    const item = judgedTrajectory(task, trajectory);
    if (!item) return undefined;
    const reader = present(run?.model, "askedModel", "model of a run")(model);
    const content = `${item.asked}\n${item.reply}\n${question}`;
    return yesProbability(reader, [{ role: "user", content }]);
  });
