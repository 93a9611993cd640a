/** Letters of scripts that put no blanks between words, or, as Korean, more than a word between two blanks. */
const unspaced =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/gu;

/**
 * The words of a text in small letters, without the marks of a sentence, or of Markdown, around them. In scripts without
 * blanks each letter is a word.
 */
export const wordsIn = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(unspaced, " $& ")
    .split(/\s+/)
    .map((word) => word.replace(/^["'“‘([*_`~]+|[.,;:!?…"'”’)\]*_`~]+$/g, "") || word)
    .filter((word) => word !== "");

/**
 * Whether a reference answer stands in a text as words of their own, in order and together. Line breaks and blanks count
 * alike, capital and small letters too, and the marks of a sentence or of Markdown around a word do not count. Without a reference, or
 * with an empty one, there is nothing to give away.
 */
export function givesAway(text: string, reference: string | undefined): boolean {
  const answer = wordsIn(reference ?? "");
  return answer.length > 0 && ` ${wordsIn(text).join(" ")} `.includes(` ${answer.join(" ")} `);
}
