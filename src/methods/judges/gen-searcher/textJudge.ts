import { present } from "../../../core/errors.ts";
import { type Able, type Attempt, scorer } from "../../../core/evaluator.ts";
import type { ModelId } from "../../../core/types.ts";
import { judgedTrajectory } from "../../../evaluator/judgedItem.ts";
import { yesAndNo, yesProbability } from "../../../evaluator/yesProbability.ts";

/** The question about a reply, and its two answers. */
export const sufficiency = { question: "Is this correct and all that is needed?", ...yesAndNo } as const;

/**
 * A model of the run as judge of what an attempt says: the probability of YES to whether the last reply is correct and enough. It sees the
 * request and the reply, and nothing that was made of it. Attempts without an action, or too long for it, get no score.
 */
export const textJudge = (model: ModelId = "judge"): Able<"score"> =>
  scorer<Attempt>(`text judge ${model}`, async ({ task, trajectory }, { run }) => {
    const item = judgedTrajectory(task, trajectory);
    if (!item) return undefined;
    const reader = present(run?.model, "textJudge", "model of a run")(model);
    return yesProbability(reader, [
      { role: "user", content: `${item.asked}\n${item.reply}\n${sufficiency.question}` },
    ]);
  });
