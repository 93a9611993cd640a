/** Replies that answer twice: an attempt, a reflection on it, and a revised attempt, in tags. */

/** What stands in such a reply. */
export interface TwoAnswers {
  /** Contents of the answers in their order, without blanks around them; those beyond the second one as well. */
  readonly answers: readonly string[];
  /** Whether the reply is think, answer, reflection, think, answer, each once and in tags, and nothing else. */
  readonly formed: boolean;
  /** Content of the first thought; empty where there is none. */
  readonly thought: string;
}

const tag = (name: string): string => `<${name}>((?:(?!<${name}>)[\\s\\S])*?)</${name}>`;
const form = new RegExp(
  `^\\s*${["think", "answer", "reflection", "think", "answer"].map(tag).join("\\s*")}\\s*$`,
);

/** Reads a reply. Total: a text without tags has no answers. */
export function readTwoAnswers(text: string): TwoAnswers {
  const contents = (name: string): string[] =>
    [...text.matchAll(new RegExp(tag(name), "g"))].map(([, content = ""]) => content.trim());
  const answers = contents("answer");
  const counted =
    answers.length === 2 && contents("think").length === 2 && contents("reflection").length === 1;
  return { answers, formed: counted && form.test(text), thought: contents("think")[0] ?? "" };
}

/** A reply in that form. */
export function twoAnswers(
  first: { readonly thought: string; readonly answer: string },
  reflection: string,
  second: { readonly thought: string; readonly answer: string },
): string {
  const attempt = ({ thought, answer }: typeof first): string =>
    `<think> ${thought} </think> <answer> ${answer} </answer>`;
  return `${attempt(first)} <reflection> ${reflection} </reflection> ${attempt(second)}`;
}
