import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Chances of a right answer at first, by difficulty; three kinds of tasks have no right answer that can be said. */
const chances = [0.98, 0.95, 0.2, 0.1, 0.05, 0, 0, 0] as const;
const answers = Array.from({ length: 16 }, (_, i) => `a${i}`);
/** Words of a reply, at most. */
export const longest = 8;
const numbers = Array.from({ length: longest + 1 }, (_, i) => `${i}`);

/** A world of tasks of visible difficulty, with a first policy for a tabular engine. */
export interface Effort extends Environment {
  /** Logit of a word at first. */
  prior(context: readonly string[], word: string): number;
  /** What contexts share. */
  features(context: readonly string[]): readonly string[];
  rightOf(task: Task): string;
}

/**
 * Tasks `t0 d0`, `t1 d1`… of eight visible difficulties. A reply is some "hm" and one of sixteen answers; the first policy hesitates
 * longer over what is difficult. It is nearly always right at two difficulties, seldom at three, and never at the last three, however
 * long it learns. Asked to predict, it says a number of right attempts and a length, all alike at first. What is learnt of an answer is
 * the task's own; what is learnt of predictions is common to a difficulty.
 */
export function effort({
  tasks = 32,
  seed = 1,
}: {
  readonly tasks?: number;
  readonly seed?: number;
} = {}): Effort {
  const numberOf = (word: string): number => Number(word.slice(1));
  const difficultyOf = (number: number): number => number % chances.length;
  const right = (number: number): string =>
    answers[randomStream(seed).split("right", number).below(answers.length)]!;
  const taskIn = (context: readonly string[]): string => context.find((word) => /^t\d+$/.test(word)) ?? "t0";
  const replyIn = (context: readonly string[]): readonly string[] =>
    context.slice(context.lastIndexOf("<assistant>") + 1);
  const isAsked = (context: readonly string[]): boolean => context.includes("predict");
  const rightOf = (task: Task): string => right(numberOf(task.prompt[0]!.content.split(" ")[0]!));

  function predicting(reply: readonly string[], word: string): number {
    const expected = [["pass"], numbers, ["length"], numbers, ["<end>"]][reply.length];
    return expected?.includes(word) ? 0 : -1e9;
  }
  function solving(number: number, reply: readonly string[], word: string): number {
    if (answers.includes(reply.at(-1) ?? "")) return word === "<end>" ? 0 : -1e9;
    const chance = chances[difficultyOf(number)]!;
    if (word === "hm") return Math.log((1 + difficultyOf(number)) / 4);
    if (!answers.includes(word)) return -1e9;
    return Math.log(word === right(number) ? chance : (1 - chance) / (answers.length - 1));
  }
  return {
    ...oneReply({
      name: "effort",
      summary: "hesitate, then answer; tasks differ in how sure the first policy is",
      questions: tasks,
      length: longest,
      words: ["hm", ...answers, ...numbers, "pass", "length"],
      seed,
      ask: (number) => `t${number} d${difficultyOf(number)}`,
      grade: (task, reply) => {
        const success = reply.split(" ").at(-1) === rightOf(task);
        return { rewards: { outcome: Number(success) }, success };
      },
      expert: rightOf,
    }),
    rightOf,
    prior: (context, word) =>
      isAsked(context)
        ? predicting(replyIn(context), word)
        : solving(numberOf(taskIn(context)), replyIn(context), word),
    features: (context) =>
      isAsked(context)
        ? [`d${difficultyOf(numberOf(taskIn(context)))} predict ${replyIn(context).length}`]
        : [replyIn(context).some((word) => answers.includes(word)) ? "over" : taskIn(context)],
  };
}
