/** Shared by single-reply environments: a question, an answer of a few words, and its outcome. */

import type { Json } from "../core/json.ts";
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "./environment.ts";

/** The outcome of a reply. */
export interface Graded {
  readonly rewards: Readonly<Record<string, number>>;
  readonly success: boolean;
  /** Feedback text, if any. */
  readonly text?: string;
}

export interface OneReplyOptions {
  readonly name: string;
  readonly summary: string;
  /** Number of training questions, `q0`, `q1`…, and of held-out questions. */
  readonly questions: number;
  /** Largest length of a reply, in words. */
  readonly length: number;
  /** Words to reply with. */
  readonly words: readonly string[];
  readonly seed: number;
  /** By the number of the question. */
  /** Text of a question, so that several may look the same. Default: its own word, `q7`. */
  readonly ask?: (question: number) => string;
  readonly metadata?: (question: number) => Readonly<Record<string, Json>>;
  /** Must not throw, also for texts that are no answer. */
  grade(task: Task, reply: string): Graded;
  expert(task: Task): string;
}

/** An environment whose episodes are one question and one reply. */
export function oneReply(options: OneReplyOptions): Environment {
  const { name, summary, questions, length, words, seed, grade, expert, metadata } = options;
  const { ask = (question: number) => `q${question}` } = options;
  const sizes: Readonly<Record<string, number>> = { train: questions, test: questions };
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : questions + index;
    return {
      id: `${name}/${split}/${index}`,
      prompt: [{ role: "user", content: ask(number) }],
      metadata: { index, ...metadata?.(number) },
      seed: randomStream(seed).split(name, number).seed,
    };
  };
  const start = (task: Task): Episode => {
    let ended = false;
    return {
      observe: async () => ({ role: "agent", observation: { messages: [], stateKey: task.id } }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        ended = true;
        const { rewards, success, text } = grade(task, content.trim());
        return {
          rewards,
          ...(text !== undefined && { text }),
          end: { kind: "done", reason: success ? "right" : "wrong", success },
        };
      },
    };
  };
  return defineEnvironment({
    name,
    summary,
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: 1, actionTokens: length },
    vocabulary: () => [...words, ...Array.from({ length: 2 * questions }, (_, i) => ask(i))],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    expert,
    start: async (task) => start(task),
    async verify(task, { turns }) {
      const reply = turns.at(-1)?.action.content;
      return reply === undefined ? { outcome: 0 } : grade(task, reply.trim()).rewards;
    },
  });
}

/** Every sequence of `length` words, as text; the last word changes fastest. */
export function allSequences(words: readonly string[], length: number): string[] {
  let out = [""];
  for (let k = 0; k < length; k++) {
    out = out.flatMap((start) => words.map((word) => (start === "" ? word : `${start} ${word}`)));
  }
  return out;
}
