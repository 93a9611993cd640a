import { present } from "../../../core/errors.ts";
import { type Able, scorer } from "../../../core/evaluator.ts";
import type { ModelId } from "../../../core/types.ts";
import { yesAndNo, yesProbability } from "../../../evaluator/yesProbability.ts";

/** The question about a caption, and its two answers. */
export const annotation = { question: "Is this progress?", ...yesAndNo } as const;

/**
 * A model of the run as annotator: it scores a caption by the probability of YES among YES and NO, in [0, 1]. A caption that is too long
 * for it gets no score.
 */
export const modelAnnotator = (model: ModelId = "annotator"): Able<"score", string> =>
  scorer<string>(`annotations of ${model}`, async (caption, { run }) => {
    const reader = present(run?.model, "modelAnnotator", "model of a run")(model);
    return yesProbability(reader, [{ role: "user", content: `${caption}\n${annotation.question}` }]);
  });
