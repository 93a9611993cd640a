/** A run that is small for a published model: a few words to each of a few questions. */
import { oneReply } from "../../src/env/oneReply.ts";

const words = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const wordOf = (question: number): string => words[question % words.length]!;
const numberOf = (task: { readonly metadata: object }): number => Number(Reflect.get(task.metadata, "index"));

const numbers = oneReply({
  name: "number-words",
  summary: "write a number as a word, and nothing else",
  questions: words.length,
  length: 16,
  words,
  seed: 1,
  ask: (question) => `Write ${question % words.length} as one English word.`,
  grade: (task, reply) => {
    const said = reply.toLowerCase().replaceAll(/[^a-z ]/g, "");
    const word = wordOf(numberOf(task));
    const success = said === word;
    // something to gain from the first reply on, and nothing by saying nothing
    const named = said.includes(word) ? 0.3 + 0.3 / (1 + reply.length - word.length) : 0;
    return { rewards: { outcome: Number(success), named }, success };
  },
  expert: (task) => wordOf(numberOf(task)),
});

export default {
  env: numbers,
  method: "grpo",
  lora: 8,
  seed: 1,
  contextTokens: 128,
  settings: { tasks: 2, groupSize: 4 },
  evaluation: { tasks: 1, every: 1000, validationTasks: 1 },
};
