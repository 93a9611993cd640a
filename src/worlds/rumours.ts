/** Questions to which a wrong answer may come to mind first. */
import { randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import { oneReply } from "../env/oneReply.ts";

/** Settings of {@link rumours}. */
export interface RumoursOptions {
  /** Mean probability of the right answer at first, and of one wrong one, the rumour; each question differs from them by up to 0.1. */
  readonly right: number;
  readonly rumour: number;
  readonly seed: number;
}

/** A world of questions, with the first policy of a tabular engine. */
export interface Rumours extends Environment {
  rightOf(task: Task): string;
  /** Logit of a word in the first policy. */
  prior(context: readonly string[], word: string): number;
}

const answers = Array.from({ length: 8 }, (_, i) => `a${i}`);

/** Sixteen questions with eight answers each. Whoever is paid for what he says most often learns the rumour where it is the likelier one. */
export function rumours({ right, rumour, seed }: RumoursOptions): Rumours {
  const about = (question: number) => {
    const random = randomStream(seed).split("rumours", question);
    const truth = random.below(answers.length);
    const other = (truth + 1 + random.below(answers.length - 1)) % answers.length;
    const [p, q] = [right, rumour].map((middle, i) => middle + 0.2 * random.split(i).next() - 0.1);
    const rest = (1 - p! - q!) / (answers.length - 2);
    return { truth, logits: answers.map((_, a) => Math.log(a === truth ? p! : a === other ? q! : rest)) };
  };
  const rightOf = ({ prompt }: Task): string =>
    answers[about(Number(prompt.at(-1)!.content.slice(1))).truth]!;
  return {
    ...oneReply({
      name: "rumours",
      summary: "questions to which a wrong answer may come to mind first",
      questions: 16,
      length: 1,
      words: answers,
      seed,
      grade: (task, reply) => ({
        rewards: { outcome: Number(reply === rightOf(task)) },
        success: reply === rightOf(task),
      }),
      expert: rightOf,
    }),
    rightOf,
    prior: (context, word) => {
      const answer = answers.indexOf(word);
      const asked = context.findLast((said) => /^q\d+$/.test(said))!;
      return answer < 0 ? -1e9 : about(Number(asked.slice(1))).logits[answer]!;
    },
  };
}
