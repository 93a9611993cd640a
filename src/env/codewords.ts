/** Codes of several words, each right or wrong independently: a critique can point at a wrong word, a scalar score cannot. */
import { randomStream } from "../core/random.ts";
import type { Task, Trajectory } from "../core/types.ts";
import { critiqueWords, type Part, templated } from "./critiques.ts";
import type { Environment } from "./environment.ts";
import { oneReply } from "./oneReply.ts";

/** Settings of {@link codewords}. */
export interface CodewordsOptions {
  /** Number of training codes, and of held-out codes. Default 16. */
  readonly questions?: number;
  /** Words of a code. Default 4. */
  readonly length?: number;
  /** Words to choose from. Default 10. */
  readonly vocabulary?: number;
  /** Reward: the share of positions with the right word ("share"), or 1 only if all are right ("whole"). Default "share". */
  readonly pay?: "share" | "whole";
  /** Whether feedback after a reply names each wrong word with its position, as in "not w3 at 2 , w1 at 4". Default false. */
  readonly says?: boolean;
  /** Number of wrong positions that a critique with detail "answer" corrects. Default 1. */
  readonly remedies?: number;
  /** Whether all questions, test questions included, look the same and have the same code. Default false. */
  readonly same?: boolean;
  /** Default 1. */
  readonly seed?: number;
}

/** The right words of a task, in order. */
export const codeOf = (task: Task): readonly string[] => task.metadata.code as readonly string[];

/** Question `q7` has a code of words out of `w0`, `w1`…; each position has one right word. Success needs the whole code. */
export function codewords(options: CodewordsOptions = {}): Environment {
  const { questions = 16, length = 4, vocabulary = 10, pay = "share", remedies = 1, seed = 1 } = options;
  const { says = false, same = false } = options;
  const words = Array.from({ length: vocabulary }, (_, i) => `w${i}`);

  function partsOf(task: Task, { turns }: Trajectory): readonly Part[] {
    const content = turns.at(-1)?.action.content ?? "";
    const said = [...content.matchAll(/\S+/g)];
    const turn = Math.max(0, turns.length - 1);
    return codeOf(task).map((better, place) => {
      const from = said[place]?.index ?? content.length;
      const word = said[place]?.[0] ?? "";
      return {
        turn,
        from,
        to: from + word.length,
        good: word === better,
        name: `step ${place + 1}`,
        better,
        worse: words.filter((other) => other !== better && other !== word),
      };
    });
  }

  return {
    ...oneReply({
      name: "codewords",
      summary: "write a code of a few words; each place has one right word",
      questions,
      length,
      words: says ? [...words, "not at ,", ...Array.from({ length }, (_, place) => `${place + 1}`)] : words,
      seed,
      ...(same && { ask: () => "q0" }),
      metadata: (question) => {
        const stream = randomStream(seed).split("code", same ? 0 : question);
        return { code: Array.from({ length }, () => words[stream.below(vocabulary)]!) };
      },
      grade: (task, reply) => {
        const said = reply.split(/\s+/);
        const right = codeOf(task).filter((word, place) => said[place] === word).length;
        const success = right === length && said.length === length;
        const text = says ? blamed(codeOf(task), said, words) : undefined;
        return {
          ...(text !== undefined && { text }),
          rewards: { outcome: pay === "share" ? right / length : success ? 1 : 0 },
          success,
        };
      },
      expert: (task) => codeOf(task).join(" "),
    }),
    critiqueVocabulary: () => critiqueWords(length),
    async critique(task, trajectory, request) {
      const parts = partsOf(task, trajectory);
      const outcome = parts.every(({ good }) => good) ? "success" : "failure";
      return templated({ outcome, parts }, request, remedies);
    },
  };
}

/** Each wrong word with its position, from 1; undefined where there is none. Words outside the vocabulary are not named. */
function blamed(
  code: readonly string[],
  said: readonly string[],
  words: readonly string[],
): string | undefined {
  const named = code.flatMap((right, place) => {
    const word = said[place] ?? "";
    return word === right || !words.includes(word) ? [] : `${word} at ${place + 1}`;
  });
  return named.length > 0 ? `not ${named.join(" , ")}` : undefined;
}
