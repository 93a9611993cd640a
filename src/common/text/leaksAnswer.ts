/** Letters of scripts that put no blanks between words, or, like Korean, several words between two blanks. */
const unspaced =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/gu;

/**
 * The words of a text in lower case, without surrounding punctuation or Markdown marks. In scripts without blanks each
 * letter is a word.
 */
export const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(unspaced, " $& ")
    .split(/\s+/)
    .map((word) => word.replace(/^["'“‘([*_`~]+|[.,;:!?…"'”’)\]*_`~]+$/g, "") || word)
    .filter((word) => word !== "");

/**
 * Whether a text contains a reference answer as consecutive whole words. White space, letter case, and punctuation or
 * Markdown marks around words are ignored. False without a reference, or with an empty one.
 */
export function leaksAnswer(text: string, reference: string | undefined): boolean {
  const answer = wordsIn(reference ?? "");
  return answer.length > 0 && ` ${wordsIn(text).join(" ")} `.includes(` ${answer.join(" ")} `);
}
