/** Questions of a few topics, each answered once by an annotator who often gives a suboptimal reply. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task, Trajectory } from "../../../core/types.ts";
import { defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link annotated}. */
export interface AnnotatedOptions {
  /** Questions that the annotator answered; half as many more are tests. Default 30. */
  readonly questions?: number;
  /** Number of topics; questions of one topic have the same good replies. Default 5. */
  readonly topics?: number;
  /** Words to choose from. Default 12. */
  readonly replies?: number;
  /** Standard deviation of the quality of replies. Default 2. */
  readonly scale?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Quality of each reply to a task, mean 0 and deviation `scale` over all that there could be. */
export const qualitiesOf = (task: Task): readonly number[] => task.metadata.qualities as readonly number[];

/** The words of the replies. */
export const wordsOf = (task: Task): string[] => qualitiesOf(task).map((_, i) => `a${i}`);

/**
 * A question reads `q17 t2`: its own word, then its topic's. A reply is one word; its reward is its quality, which depends
 * only on the topic. The expert is the annotator: for each question it knows one reply, drawn once with probability
 * ∝ exp(quality). Success: a reply at least as good.
 */
export function annotated(options: AnnotatedOptions = {}): Environment {
  const { questions = 30, topics = 5, replies = 12, scale = 2, seed = 1 } = options;
  const sizes: Readonly<Record<string, number>> = { train: questions, test: Math.ceil(questions / 2) };
  const total = questions + Math.ceil(questions / 2);
  const words = Array.from({ length: replies }, (_, i) => `a${i}`);
  const root = randomStream(seed);
  const qualities = Array.from({ length: topics }, (_, topic) => {
    const random = root.split("topic", topic);
    return words.map(() => scale * random.normal());
  });

  function taskAt(split: string, index: number): Task {
    const number = split === "train" ? index : questions + index;
    const topic = number % topics;
    const stream = root.split("question", number);
    return {
      id: `annotated/${split}/${index}`,
      prompt: [{ role: "user", content: `q${number} t${topic}` }],
      metadata: { topic, qualities: qualities[topic]!, shown: drawn(qualities[topic]!, stream) },
      seed: stream.seed,
    };
  }
  const shown = (task: Task): number => Number(task.metadata.shown);
  const payOf = (task: Task, content: string): number | undefined =>
    qualitiesOf(task)[words.indexOf(content.trim())];
  const start = (task: Task): Episode => ({
    observe: async () => ({
      role: "agent",
      observation: { messages: [], stateKey: String(task.metadata.topic), legal: words },
    }),
    act: async ({ content }) => {
      const pay = payOf(task, content);
      const success = pay !== undefined && pay >= qualitiesOf(task)[shown(task)]!;
      return { rewards: { outcome: pay ?? 0 }, end: { kind: "done", reason: "replied", success } };
    },
  });

  return defineEnvironment({
    name: "annotated",
    summary: "answer with one word; an annotator showed one answer of each question, not always a good one",
    abilities: new Set(["expert", "legal", "replay", "stateKey"] as const),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: 1, actionTokens: 2 },
    vocabulary: () => [
      ...words,
      ...Array.from({ length: total }, (_, i) => `q${i}`),
      ...Array.from({ length: topics }, (_, i) => `t${i}`),
    ],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    expert: (task) => words[shown(task)]!,
    start: async (task) => start(task),
    verify: async (task: Task, t: Trajectory) => ({
      outcome: payOf(task, t.turns.at(-1)?.action.content ?? "") ?? 0,
    }),
  });
}

/** An index drawn with probability ∝ exp(logit). */
function drawn(logits: readonly number[], random: Random): number {
  const weights = logits.map(Math.exp);
  let left = random.next() * weights.reduce((a, b) => a + b, 0);
  const found = weights.findIndex((w) => {
    left -= w;
    return left < 0;
  });
  return found < 0 ? weights.length - 1 : found;
}
