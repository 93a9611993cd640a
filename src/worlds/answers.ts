/** Questions with several right one-word answers, to measure a policy's diversity. */
import { randomStream, shuffled } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { critiqueWords, templated, wholeAction } from "../env/critiques.ts";
import { defineEnvironment, type Environment } from "../env/environment.ts";

/** Settings of {@link answers}. */
export interface AnswersOptions {
  /** Number of training questions, and of held-out questions. Default 30. */
  readonly questions?: number;
  /** Number of consecutive questions with the same text but different right words, which are thus indistinguishable. Default 1. */
  readonly variants?: number;
  /** Words to choose from. Default 64. */
  readonly vocabulary?: number;
  /** Right words per question. Default 3. */
  readonly right?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The right words of a task. */
export const rightOf = (task: Task): readonly string[] => task.metadata.right as readonly string[];

/** A question is one word, `q7`; answers are `a0`, `a1`…, and a right one pays 1. */
export function answers(options: AnswersOptions = {}): Environment {
  const { questions = 30, variants = 1, vocabulary = 64, right = 3, seed = 1 } = options;
  const words = Array.from({ length: vocabulary }, (_, i) => `a${i}`);
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : questions + index;
    const stream = randomStream(seed).split("question", number);
    return {
      id: `answers/${split}/${index}`,
      prompt: [{ role: "user", content: `q${number - (index % variants)}` }],
      metadata: { right: shuffled(words, stream).slice(0, right), index },
      seed: stream.seed,
    };
  };
  return defineEnvironment({
    name: "answers",
    summary: "answer with one word; several are right",
    abilities: new Set(["expert", "replay"]),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [...words, ...Array.from({ length: 2 * questions }, (_, i) => `q${i}`)],
    tasks: (split) => Array.from({ length: questions }, (_, i) => taskAt(split, i)),
    expert: (task) => rightOf(task)[0]!,
    critiqueVocabulary: () => critiqueWords(0),
    async critique(task, { turns }, request) {
      const said = turns.at(-1)?.action.content ?? "";
      const good = rightOf(task).includes(said.trim());
      const worse = words.filter((word) => word !== said.trim() && !rightOf(task).includes(word));
      const place = wholeAction(Math.max(0, turns.length - 1), said);
      const answer = { ...place, good, name: "", better: rightOf(task)[0]!, worse };
      return templated({ outcome: good ? "success" : "failure", parts: [answer] }, request);
    },
    start: async (task) => ({
      observe: async () => ({ role: "agent", observation: { messages: [], stateKey: task.id } }),
      act: async ({ content }) => {
        const success = rightOf(task).includes(content.trim());
        return {
          rewards: { outcome: success ? 1 : 0 },
          end: { kind: "done", reason: success ? "right" : "wrong", success },
        };
      },
    }),
  });
}
