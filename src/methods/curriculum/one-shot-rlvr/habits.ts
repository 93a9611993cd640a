/** Questions whose answer a policy knows better where it checks its work, a habit that all questions share. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Answers to choose from. */
const answers = Array.from({ length: 8 }, (_, i) => `a${i}`);
/** Ways to answer: with work that is checked, or at once. */
export const habits = ["check", "guess"] as const;

/** Initial probability of the right answer by habit. Easy and hopeless questions do not tell the habits apart. */
const kinds = {
  easy: { check: 0.95, guess: 0.95 },
  hopeless: { check: 0.02, guess: 0.02 },
  useful: { check: 0.9, guess: 0.15 },
} as const;

const kindOf = (seed: number, question: number): keyof typeof kinds =>
  (["easy", "hopeless", "useful"] as const)[randomStream(seed).split("kind", question).below(3)]!;
const answerOf = (seed: number, question: number): string =>
  answers[randomStream(seed).split("answer", question).below(answers.length)]!;

/** The right answer to a task. */
export const rightAnswer = (task: Task): string => String(task.metadata.answer);

/** The reply to "q7" is a habit and an answer, "check a3". Only the answer counts. */
export const habitual = ({ questions = 24, seed = 1 }: { questions?: number; seed?: number } = {}) =>
  oneReply({
    name: "habits",
    summary: "answer a question; a habit that all questions share decides how often the answer is right",
    questions,
    length: 2,
    words: [...habits, ...answers],
    seed,
    metadata: (question) => ({ answer: answerOf(seed, question), kind: kindOf(seed, question) }),
    grade: (task, reply) => {
      const [habit, answer, ...others] = reply.split(/\s+/);
      const isRight =
        others.length === 0 && habits.some((name) => name === habit) && answer === rightAnswer(task);
      return { rewards: { outcome: Number(isRight) }, success: isRight };
    },
    expert: (task) => `check ${rightAnswer(task)}`,
  });

/**
 * The policy of {@link habitual}, which at first checks one time in five. The habit has a row of the question and one that all
 * questions share, and so has the answer: what one question teaches of the habit helps the others, what it teaches of its own
 * answer misleads them.
 */
export const habitsPolicy = (seed: number) => ({
  context: "message" as const,
  features: (context: readonly string[]) => {
    const said = saidIn(context);
    return [`${questionIn(context)} ${said}`, said];
  },
  prior: (context: readonly string[], word: string) => {
    const said = saidIn(context);
    if (said === "") return word === "check" ? 0 : word === "guess" ? Math.log(4) : -1e9;
    if (!answers.includes(word)) return -1e9;
    const question = Number(questionIn(context).slice(1));
    const p = kinds[kindOf(seed, question)][said === "check" ? "check" : "guess"];
    return word === answerOf(seed, question) ? Math.log((p * (answers.length - 1)) / (1 - p)) : 0;
  },
});

const questionIn = (context: readonly string[]): string => context.find((word) => /^q\d+$/.test(word)) ?? "";
const saidIn = (context: readonly string[]): string =>
  context.slice(context.lastIndexOf("<assistant>") + 1).join(" ");
