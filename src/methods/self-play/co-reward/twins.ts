import { randomStream, shuffled } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link twins}. */
export interface TwinsOptions {
  /** Number of training questions, and of held-out questions. Default 16. */
  readonly questions?: number;
  /** Whether both views of a question are led astray by the same wrong answer. Default false. */
  readonly alike?: boolean;
  readonly seed?: number;
}

/** A world of questions in two wordings. */
export interface Twins extends Environment {
  readonly answers: readonly string[];
  rightOf(task: Task): string;
  /** Logit of a word in the first policy, for a tabular engine: in each wording, one wrong answer is usually likelier than the right one. */
  prior(context: readonly string[], word: string): number;
}

interface Question {
  readonly right: string;
  /** Of every answer, in each wording. */
  readonly logits: Readonly<Record<"q" | "p", readonly number[]>>;
}

const answers = Array.from({ length: 8 }, (_, i) => `a${i}`);

/**
 * Question `q7` can also be asked as `p7`; the answer is one of eight words. At first the right answer has probability 0.35 ± 0.1 in
 * either wording, and a wrong one, drawn for each wording, 0.45 ± 0.1.
 */
export function twins({ questions = 16, alike = false, seed = 1 }: TwinsOptions = {}): Twins {
  const known = new Map<number, Question>();
  const about = (question: number): Question => {
    const found = known.get(question) ?? made(question);
    known.set(question, found);
    return found;
  };
  function made(question: number): Question {
    const random = randomStream(seed).split("twins", question);
    const [right, ...wrong] = shuffled(answers, random) as [string, ...string[]];
    const viewOf = (view: string, lure: string): readonly number[] => {
      const [p, l] = [0.35, 0.45].map((middle, i) => middle + 0.1 * (2 * random.split(view, i).next() - 1));
      return answers.map((word) =>
        Math.log(word === right ? p! : word === lure ? l! : (1 - p! - l!) / (answers.length - 2)),
      );
    };
    return { right, logits: { q: viewOf("q", wrong[0]!), p: viewOf("p", wrong[alike ? 0 : 1]!) } };
  }
  const questionOf = (task: Task): number => Number(task.prompt.at(-1)!.content.slice(1));
  const rightOf = (task: Task): string => about(questionOf(task)).right;
  const environment = oneReply({
    name: "twins",
    summary:
      "questions that can be asked in two ways, each with a wrong answer of its own that comes to mind",
    questions,
    length: 1,
    words: [...answers, ...Array.from({ length: 2 * questions }, (_, i) => `p${i}`)],
    seed,
    metadata: (question) => ({ rewritten: `p${question}` }),
    grade: (task, reply) => ({
      rewards: { outcome: Number(reply === rightOf(task)) },
      success: reply === rightOf(task),
    }),
    expert: rightOf,
  });
  return {
    ...environment,
    answers,
    rightOf,
    prior: (context, word) => {
      if (!answers.includes(word)) return -1e9;
      const asked = context.findLast((said) => /^[qp]\d+$/.test(said))!;
      return about(Number(asked.slice(1))).logits[asked[0] as "q" | "p"][answers.indexOf(word)]!;
    },
  };
}
