/** Designer, critic and analyser as one model that is asked in words. */

import { present } from "../../../core/errors.ts";
import type { EvaluatorCall } from "../../../core/evaluator.ts";
import type { ModelId } from "../../../core/types.ts";
import { codeIn } from "../../../env/fenced.ts";
import type { Authors, DesignRequest, Failures } from "./design.ts";
import { rewardForm } from "./rewardCode.ts";

/** Answers a question in words; undefined where it failed. */
export type Answer = (question: string, call: EvaluatorCall) => Promise<string | undefined>;

/** A model of the run that answers. A question that does not fit its context gets no answer, nor one that was cut. */
export const modelAnswer =
  (id: ModelId, maxTokens = 512): Answer =>
  async (question, { random, run }) => {
    const model = present(run?.model, "modelAnswer", "model of a run")(id);
    const prompt = model.codec.open([{ role: "user", content: question }]);
    const room = Math.min(maxTokens, model.contextTokens - prompt.length);
    if (room < 1) return undefined;
    const [sample] = await model.sample([{ prompt, maxTokens: room, seed: random.seed }]);
    if (!sample) return undefined;
    run?.count("generations", 1);
    run?.count("tokens.sampled", sample.action.length);
    return sample.stop === "length" ? undefined : model.codec.decode(sample.action);
  };

const some = 3;

/** Authors that ask `answer` in words. A review must begin with "yes" or "no": any other is a failure, and leaves the verdict to the sandbox. */
export const authorsBy = (answer: Answer, name = "model"): Authors => ({
  designer: {
    name: `reward designer ${name}`,
    async write(request, call) {
      const text = await answer(designQuestion(request), call);
      return text === undefined ? undefined : codeIn(text);
    },
  },
  critic: {
    name: `reward critic ${name}`,
    async critique({ request, code, samples }, call) {
      const shown = samples.slice(0, some).map((sample) => JSON.stringify(sample));
      const text = await answer(
        `Task: ${request.task}\nReward code:\n${code}\nWhat it pays for transitions of recorded attempts:\n${shown.join("\n")}\nIs it right for the task? Begin with yes or no, and say what is wrong.`,
        call,
      );
      const [, verdict] = /^\s*(yes|no)\b/i.exec(text ?? "") ?? [];
      if (text === undefined || verdict === undefined) return undefined;
      return { text, outcome: verdict.toLowerCase() === "yes" ? "success" : "failure" };
    },
  },
  analyser: {
    name: `failure analyser ${name}`,
    async critique(failures: Failures, call) {
      const shown = failures.map((failure) => JSON.stringify(failure)).join("\n");
      const text = await answer(
        `Last states of failed attempts, and what each step was paid:\n${shown}\nList the causes, and suggest how the reward should change.`,
        call,
      );
      return text === undefined ? undefined : { text };
    },
  },
});

function designQuestion({ task, fields, previous, refused }: DesignRequest): string {
  return [
    `Task: ${task}`,
    `Write a reward as JavaScript: ${rewardForm}`,
    `A state: ${JSON.stringify(fields)}`,
    ...(previous
      ? [`The best version so far:\n${previous.code}\nSuccess: ${previous.success}\n${previous.analysis}`]
      : []),
    ...(refused ? [`A draft that was refused:\n${refused.code}\n${refused.why}`] : []),
    "Reply with the code alone.",
  ].join("\n");
}
