/** Questions about pictures, answered by a trace of words; and a reasoner that only read their captions. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";

/** Settings of {@link glimpses}. */
export interface GlimpsesOptions {
  /** Default 12. */
  readonly questions?: number;
  /** Values to answer with. Default 6. */
  readonly values?: number;
  /** Share of questions whose caption lacks what was asked: the reasoner is wrong there. Default 1/3. */
  readonly uncaptioned?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Words of a trace before the answer: a step, a doubt, and what announces the answer. */
export const [step, doubt, so] = ["look", "wait", "so"] as const;
/** Most words of a trace. */
export const longest = 8;

/** The value that was asked for. */
export const shownIn = (task: Task): string => String(task.metadata.value);

/**
 * A trace is right where it has a step and ends with `so` and the right value, as in `look wait look so v3`; nothing else pays. The
 * expert takes one step; the flawed player is a reasoner that read the caption: it doubts up to twice, and where the caption lacks
 * what was asked, it answers something else, which is wrong.
 */
export function glimpses(options: GlimpsesOptions = {}): Environment {
  const { questions = 12, values = 6, uncaptioned = 1 / 3, seed = 1 } = options;
  const stream = randomStream(seed);
  const words = Array.from({ length: values }, (_, v) => `v${v}`);
  const rightAt = (question: number): string => words[stream.split("value", question).below(values)]!;
  const isCaptioned = (question: number): boolean => stream.split("caption", question).next() >= uncaptioned;
  const isRight = (task: Task, reply: string): boolean => {
    const words = reply.trim().split(/\s+/);
    return words.at(-1) === shownIn(task) && words.at(-2) === so && words.slice(0, -2).includes(step);
  };
  const environment = oneReply({
    name: "glimpses",
    summary: "reason in a few words about a picture, and say what it shows",
    questions,
    length: longest,
    words: [step, doubt, so, ...words],
    seed,
    metadata: (question) => ({ value: rightAt(question), captioned: isCaptioned(question) }),
    grade: (task, reply) => {
      const success = isRight(task, reply);
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: (task) => `${step} ${so} ${shownIn(task)}`,
  });
  return {
    ...environment,
    flawed: (task: Task, _conversation, random: Random) => {
      const doubts = Array.from({ length: random.split("doubts").below(3) }, () => `${doubt} ${step}`);
      const others = words.filter((word) => word !== shownIn(task));
      const guess = others[random.split("guess").below(others.length)]!;
      const answer = task.metadata.captioned === true ? shownIn(task) : guess;
      return [step, ...doubts, so, answer].join(" ");
    },
  };
}
