/** Answers of eight words, each of which has to keep a rule of its own; checks name one of the eight places. */

import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";
import type { Validate } from "./adversary.ts";

export const [questions, places, words] = [5, 8, 6] as const;
const names = (kind: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${kind}${i}`);

/** Checks: one for each place, and one that can be decided for no answer. */
export const checkWords = [...names("place", places), "style"];

/** The word that keeps the rule of a place, by the question's own word. */
export const ruleOf = (seed: number, question: string, place: number): string =>
  `w${randomStream(seed).split("rule", question, place).below(words)}`;

const asked = (task: Task): string => task.prompt[0]!.content;

/** Question `q3` wants eight words, `w0` to `w5`; an answer succeeds and pays 1 where all eight keep their rules. */
export const claims = (seed: number): Environment =>
  oneReply({
    name: "claims",
    summary: "write eight words, each of which has to keep its rule",
    questions,
    length: places,
    words: names("w", words),
    seed,
    grade: (task, reply) => {
      const said = reply.split(" ");
      const kept = said.filter((word, place) => word === ruleOf(seed, asked(task), place)).length;
      const success = said.length === places && kept === places;
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: (task) =>
      Array.from({ length: places }, (_, place) => ruleOf(seed, asked(task), place)).join(" "),
  });

/** Decides the check of a place; any other word is no check. */
export const validator =
  (seed: number): Validate =>
  async (_ctx, task, { turns }, check) => {
    const place = checkWords.slice(0, places).indexOf(check);
    if (place < 0) return "invalid";
    const word = (turns.at(-1)?.action.content ?? "").split(" ")[place];
    return word === ruleOf(seed, asked(task), place) ? "passed" : "violated";
  };

/** What a prefix is about: the question, the words of the answer so far, and whether a check is to be named. */
const read = (context: readonly string[]) => {
  const [question = "", end = 0] = [context[1], context.indexOf("<assistant>")];
  const rest = context.slice(end + 1);
  const checking = rest.includes("<user>");
  return { question, checking, said: rest.slice(0, checking ? rest.indexOf("<end>") : undefined) };
};

/**
 * A generator begins by keeping each rule with a probability around 0.6, from 0.35 to 0.8. A critic begins with all checks equally likely, or, with a
 * `known` share of the rules, e⁴ times as likely to name a place where one of those is broken.
 */
export const claimant =
  (seed: number, known = 0) =>
  (context: readonly string[], word: string): number => {
    const { question, checking, said } = read(context);
    const stream = randomStream(seed).split("start", question);
    if (checking) {
      const place = checkWords.indexOf(word);
      if (place < 0) return -1e9;
      const isKnown = place < places && stream.split("known", place).next() < known;
      return isKnown && said[place] !== ruleOf(seed, question, place) ? 4 : 0;
    }
    if (!/^w\d$/.test(word)) return -1e9;
    const kept = 0.35 + 0.45 * stream.split("kept", said.length).next();
    const right = word === ruleOf(seed, question, said.length);
    return Math.log(right ? kept : (1 - kept) / (words - 1));
  };

/** A generator has a row for each place of a question; a critic one for each word at each place. */
export const claimReader = (context: readonly string[]): readonly string[] => {
  const { question, checking, said } = read(context);
  return checking
    ? said.map((word, place) => `${question} ${place} ${word}`)
    : [`${question} ${said.length}`];
};
