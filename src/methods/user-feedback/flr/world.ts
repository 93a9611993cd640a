/** Questions with follow-ups: the user is usually satisfied if the answer was right. */
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment, type Episode } from "../../../env/environment.ts";

/** Settings of {@link followUps}. */
export interface FollowUpsOptions {
  /** Number of training questions; as many others are held out. Default 25. */
  readonly questions?: number;
  /** Answers to choose from, `a0`, `a1`…; one is right. Default 6. */
  readonly answers?: number;
  /** Probability that the follow-up matches the answer's correctness, in [0.5, 1]. Default 0.8. */
  readonly fitting?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The users' follow-ups, of different lengths. */
export const satisfied = ["thanks", "that helps", "just what i needed"] as const;
export const dissatisfied = [
  "that is not right",
  "no i asked for something else",
  "i do not see how that answers it",
] as const;

/** The answers of an environment with so many. */
export const answerWords = (count: number): string[] => Array.from({ length: count }, (_, a) => `a${a}`);

/** Every question `q7` has one right answer; the user's follow-up is returned as text. */
export function followUps(options: FollowUpsOptions = {}): Environment {
  const { questions = 25, answers = 6, fitting = 0.8, seed = 1 } = options;
  const sizes: Readonly<Record<string, number>> = { train: questions, test: questions };
  const words = answerWords(answers);
  const taskAt = (split: string, index: number): Task => {
    const number = split === "train" ? index : questions + index;
    const stream = randomStream(seed).split("followUps", number);
    return {
      id: `follow-ups/${split}/${index}`,
      prompt: [{ role: "user", content: `q${number}` }],
      reference: shuffled(words, stream)[0]!,
      metadata: { index },
      seed: stream.seed,
    };
  };
  const start = (task: Task, random: Random): Episode => {
    let ended = false;
    return {
      observe: async () => ({
        role: "agent",
        observation: { messages: [], stateKey: task.id, legal: words },
      }),
      act: async ({ content }) => {
        if (ended) return alreadyOver;
        ended = true;
        const success = content.trim() === task.reference;
        const draw = random.split("said");
        const pleased = success === draw.next() < fitting;
        const said = pleased ? satisfied : dissatisfied;
        return {
          rewards: { outcome: success ? 1 : 0 },
          text: said[draw.below(said.length)]!,
          end: { kind: "done", reason: success ? "right" : "wrong", success },
        };
      },
    };
  };
  return defineEnvironment({
    name: "follow-ups",
    summary: "answer with one word; what the asker says to it mostly shows whether it was right",
    abilities: new Set(["stateKey", "expert", "legal"] as const),
    roles: ["agent"],
    splits: Object.keys(sizes),
    limits: { turns: 1, actionTokens: 1 },
    vocabulary: () => [
      ...words,
      ...satisfied,
      ...dissatisfied,
      ...Array.from({ length: 2 * questions }, (_, i) => `q${i}`),
    ],
    tasks: (split) => Array.from({ length: sizes[split] ?? 0 }, (_, i) => taskAt(split, i)),
    start: async (task, random) => start(task, random),
    expert: (task) => task.reference!,
    verify: async (task, { turns }) => ({
      outcome: turns.at(-1)?.action.content.trim() === task.reference ? 1 : 0,
    }),
  });
}
