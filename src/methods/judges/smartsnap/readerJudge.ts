import { present } from "../../../core/errors.ts";
import type { Able } from "../../../core/evaluator.ts";
import type { Message, ModelId } from "../../../core/types.ts";
import { yesProbability } from "../../../evaluator/yesProbability.ts";

/** What a judge of evidence is asked. */
export const proofQuestions = {
  success: "Does this prove that the task is done?",
  valid: "Is this evidence about the task?",
} as const;

/**
 * A model of the run as judge of evidence: it reads the task, the evidence and the message, and answers two questions with YES or NO, each
 * drawn from its probabilities. An attempt that is too long for it gets no scores.
 */
export const readerJudge = (model: ModelId): Able<"score"> => ({
  name: `${model} reads evidence`,
  async score(items, { random, run }) {
    const reader = present(run?.model, "readerJudge", "model of a run")(model);
    const all = await Promise.all(
      items.map(async ({ trajectory: { id, turns } }) => {
        const turn = turns.at(-1);
        if (!turn) return undefined;
        const asked = (content: string): readonly Message[] => [
          ...turn.prompt,
          turn.action,
          { role: "user", content },
        ];
        const yes = async (name: keyof typeof proofQuestions): Promise<number> => {
          const p = await yesProbability(reader, asked(proofQuestions[name]));
          return p === undefined ? Number.NaN : Number(random.split(name, id).next() < p);
        };
        return { success: await yes("success"), valid: await yes("valid") };
      }),
    );
    const known = all.filter((one) => one !== undefined);
    return known.length < items.length ? undefined : known;
  },
});
