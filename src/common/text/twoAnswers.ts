/** Self-reflection format: an attempt, a reflection on it, and a revised attempt, in tags. */

/** A parsed reply in the self-reflection format. */
export interface TwoAnswers {
  /** Contents of all answers in order, trimmed; there may be more than two. */
  readonly answers: readonly string[];
  /** Whether the reply consists of exactly think, answer, reflection, think, answer, in tags. */
  readonly formed: boolean;
  /** Content of the first thought; "" where there is none. */
  readonly thought: string;
}

const tag = (name: string): string => `<${name}>((?:(?!<${name}>)[\\s\\S])*?)</${name}>`;
const form = new RegExp(
  `^\\s*${["think", "answer", "reflection", "think", "answer"].map(tag).join("\\s*")}\\s*$`,
);

/** Parses a reply. Never throws: a text without tags has no answers. */
export function readTwoAnswers(text: string): TwoAnswers {
  const contents = (name: string): string[] =>
    [...text.matchAll(new RegExp(tag(name), "g"))].map(([, content = ""]) => content.trim());
  const answers = contents("answer");
  const counted =
    answers.length === 2 && contents("think").length === 2 && contents("reflection").length === 1;
  return { answers, formed: counted && form.test(text), thought: contents("think")[0] ?? "" };
}

/** Writes a reply in that format. */
export function twoAnswers(
  first: { readonly thought: string; readonly answer: string },
  reflection: string,
  second: { readonly thought: string; readonly answer: string },
): string {
  const attempt = ({ thought, answer }: typeof first): string =>
    `<think> ${thought} </think> <answer> ${answer} </answer>`;
  return `${attempt(first)} <reflection> ${reflection} </reflection> ${attempt(second)}`;
}
