/** Facts that come in stages and share the words of their keys, so that later ones overwrite earlier ones. */

import type { Json } from "../../../core/json.ts";
import { randomStream, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import type { Task } from "../../../core/types.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Stages, and facts of each. */
export const stages = 5;
export const perStage = 24;
/** Words that keys are made of, words of a key, and values. */
const [vocabulary, keyLength, valueCount] = [64, 8, 10];
const values = Array.from({ length: valueCount }, (_, i) => `v${i}`);

/** The stage in which a fact is taught, from 0. */
export const stageOf = (task: Task): number => Number(task.metadata.stage);
/** The value of a fact. */
export const valueIn = (task: Task): string => String(task.metadata.value);

/** The key of a fact is eight of 64 words, its value one of ten. */
export const keyedFacts = (seed: number) => {
  const random = randomStream(seed).split("facts");
  const words = Array.from({ length: vocabulary }, (_, i) => `k${i}`);
  const keyOf = (fact: number): string =>
    shuffled(words, random.split("key", fact)).slice(0, keyLength).join(" ");
  const valueOfFact = (fact: number): string => values[random.split("value", fact).below(valueCount)]!;
  return oneReply({
    name: "keyed-facts",
    summary: "say the value of a fact whose key shares words with other keys",
    questions: stages * perStage,
    length: 1,
    words: [...values, ...words],
    seed,
    ask: keyOf,
    metadata: (fact) => ({
      stage: Math.floor((fact % (stages * perStage)) / perStage),
      value: valueOfFact(fact),
    }),
    grade: (task, reply) => {
      const isRight = reply === valueIn(task);
      return { rewards: { outcome: Number(isRight) }, success: isRight };
    },
    expert: valueIn,
  });
};

/** A linear policy on the words of the key. A reply ends after its value. */
export const keyedPolicy = {
  context: "message",
  features: (context: readonly string[]) =>
    isOver(context) ? ["over"] : context.filter((word) => /^k\d+$/.test(word)),
  prior: (context: readonly string[], word: string) => (values.includes(word) !== isOver(context) ? 0 : -1e9),
} as const;

const isOver = (context: readonly string[]): boolean => values.includes(context.at(-1) ?? "");

/** Hands on the facts of one stage after the other, each for as many iterations, with a few kept of each stage before. */
export function inStages<State extends Json>(
  each: Data<State>,
  { iterations, kept }: { readonly iterations: number; readonly kept: number },
): Data<State> {
  return {
    ...each,
    name: `${each.name}, in stages`,
    choose(ctx, tasks, state) {
      const now = Math.min(stages - 1, Math.floor(ctx.clock.iteration / iterations));
      const rehearsed = Array.from({ length: now }, (_, stage) =>
        tasks.filter((task) => stageOf(task) === stage).slice(0, kept),
      ).flat();
      const taught = tasks.filter((task) => stageOf(task) === now);
      return each.choose(ctx, [...taught, ...rehearsed], state);
    },
  };
}
