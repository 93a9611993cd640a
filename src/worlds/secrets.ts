/** Secret words that only their exact repetition pays for, at every difficulty: what to train on decides what is learnt. */
import { randomStream, shuffled } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { alreadyOver, defineEnvironment, type Environment } from "../env/environment.ts";

/** Settings of {@link secrets}. */
export interface SecretsOptions {
  /** Number of secrets that training asks for, and of other ones that are held out. Default 20. */
  readonly secrets?: number;
  /** How many words of a secret a task asks for: one task per secret and length. Default [4]. */
  readonly lengths?: readonly number[];
  /** Words to choose from. Default 6. */
  readonly vocabulary?: number;
  /**
   * Lowest and highest probability with which the untrained policy of {@link secretsEngine} says a whole secret (of the
   * largest length); each secret has its own, log-uniform between them. Default [0.02, 0.3].
   */
  readonly success?: readonly [low: number, high: number];
  /** Default 1. */
  readonly seed?: number;
}

/** Easier formats of a question with the same answer, easiest first, then the question itself. */
export const formats = ["four choice", "ten choice", "fill in", "open"] as const;

/** The right words of a task. */
export const secretOf = (task: Task): readonly string[] => task.metadata.secret as readonly string[];

/**
 * The answer to question `q7 3` is the first three words of secret 7, out of `w0`, `w1`…; exactly these pay 1, anything else 0.
 *
 * A task lists the formats in which it can be asked in `metadata.formats`, and is asked in `metadata.format`. Choices show the
 * right answer among others, drawn from the task's seed; "fill in" gives all words but one. `reference` is the answer.
 */
export function secrets(options: SecretsOptions = {}): Environment {
  const { secrets: count = 20, lengths = [4], vocabulary = 6, seed = 1 } = options;
  const words = Array.from({ length: vocabulary }, (_, i) => `w${i}`);
  const most = Math.max(...lengths);
  const splits = ["train", "test"] as const;

  function tasksOf(split: string, index: number): Task[] {
    const number = split === "train" ? index : count + index;
    const stream = randomStream(seed).split("secret", number);
    const whole = Array.from({ length: most }, () => words[stream.below(vocabulary)]!);
    return lengths.map((length) => ({
      id: `secrets/${split}/${index}/${length}`,
      prompt: [{ role: "user", content: `q${number} ${length}` }],
      reference: whole.slice(0, length).join(" "),
      metadata: { number, secret: whole.slice(0, length), formats: [...formats] },
      seed: stream.split(length).seed,
    }));
  }
  const outcomeOf = (task: Task, reply: string): number =>
    reply.trim().split(/\s+/).join(" ") === secretOf(task).join(" ") ? 1 : 0;

  return defineEnvironment({
    name: "secrets",
    summary: "say a secret of a few words exactly; each secret is as hard as its own first chance",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits,
    limits: { turns: 1, actionTokens: most },
    vocabulary: () => [
      ...words,
      "choose or fill any",
      ...Array.from({ length: 2 * count }, (_, i) => `q${i}`),
      ...lengths.map((length) => `${length}`),
    ],
    tasks: (split) =>
      splits.some((name) => name === split)
        ? Array.from({ length: count }, (_, i) => tasksOf(split, i)).flat()
        : [],
    expert: (task) => secretOf(task).join(" "),
    start: async (task) => {
      let ended = false;
      const shown = choicesOf(task, words);
      return {
        observe: async () => ({
          role: "agent",
          observation: {
            messages: shown === undefined ? [] : [{ role: "user", content: shown }],
            stateKey: task.id,
            maxTokens: secretOf(task).length,
          },
        }),
        act: async ({ content }) => {
          if (ended) return alreadyOver;
          ended = true;
          const outcome = outcomeOf(task, content);
          const end = {
            kind: "done",
            reason: outcome === 1 ? "right" : "wrong",
            success: outcome === 1,
          } as const;
          return { rewards: { outcome }, end };
        },
      };
    },
    verify: async (task, { turns }) => ({ outcome: outcomeOf(task, turns.at(-1)?.action.content ?? "") }),
  });
}

/** What a task in an easier format shows; undefined for an open question. */
function choicesOf(task: Task, words: readonly string[]): string | undefined {
  const { format } = task.metadata;
  const right = secretOf(task);
  const random = randomStream(task.seed).split("choices");
  if (format === "fill in") return `fill ${right.with(random.below(right.length), "any").join(" ")}`;
  const count = format === "four choice" ? 4 : format === "ten choice" ? 10 : 0;
  if (count === 0) return undefined;
  const known = new Set([right.join(" ")]);
  const possible = words.length ** right.length;
  while (known.size < Math.min(count, possible))
    known.add(right.map(() => words[random.below(words.length)]!).join(" "));
  return `choose ${shuffled([...known], random.split("order")).join(" or ")}`;
}
