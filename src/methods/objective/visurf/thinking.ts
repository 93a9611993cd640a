/** Questions that may be answered at once or after a step of thought; a written thought has a small format reward. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link thinking}. */
export interface ThinkingOptions {
  /** Number of training questions; as many others are held out. Default 6. */
  readonly questions?: number;
  /** Words to think, `t0`, `t1`… Default 4. */
  readonly thoughts?: number;
  /** Words to answer with, `a0`, `a1`… Default 8. */
  readonly answers?: number;
  /** Format reward of "think", in addition to 1 for a right answer. Default 0.3. */
  readonly format?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The right answer of a task. */
export const rightAnswer = (task: Task): string => String(task.metadata.right);

/**
 * A reply is "direct a3" or "think t1 a3". A right answer has the reward `outcome` 1; a well-formed thought has the reward
 * `format`, whatever the answer. The expert answers at once.
 */
export function thinking(options: ThinkingOptions = {}): Environment {
  const { questions = 6, thoughts = 4, answers = 8, format = 0.3, seed = 1 } = options;
  const words = (letter: string, n: number): string[] => Array.from({ length: n }, (_, i) => `${letter}${i}`);
  const all = { thoughts: words("t", thoughts), answers: words("a", answers) };
  return oneReply({
    name: "thinking",
    summary: "answer at once or after a step of thought, which pays a little by itself",
    questions,
    length: 3,
    words: ["direct", "think", ...all.thoughts, ...all.answers],
    seed,
    metadata: (number) => ({
      right: all.answers[randomStream(seed).split("right", number).below(answers)]!,
    }),
    grade: (task, reply) => {
      const said = reply.split(/\s+/);
      const [form, ...rest] = said;
      const answer = rest.at(-1) ?? "";
      const thinks = form === "think" && said.length === 3 && all.thoughts.includes(rest[0] ?? "");
      const isReply = (thinks || (form === "direct" && said.length === 2)) && all.answers.includes(answer);
      const success = isReply && answer === rightAnswer(task);
      return { rewards: { outcome: Number(success), format: thinks && isReply ? format : 0 }, success };
    },
    expert: (task) => `direct ${rightAnswer(task)}`,
  });
}
