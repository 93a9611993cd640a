/** What a guess at a word is told: one colour a letter. */

export const colours = ["grey", "yellow", "green"] as const;

const most = 26;
const left = new Uint8Array(most);
const at = (word: string, i: number): number => word.charCodeAt(i) - 97;

/**
 * The colours of a guess as one number, base 3, the first letter lowest: green (2) where a letter stands in its place,
 * yellow (1) where it stands elsewhere, each letter of the secret answering for one letter of the guess, greens first
 * and then from the left; grey (0) otherwise. Both words are of one length, in letters a to z.
 */
export function attributesOf(guess: string, secret: string): number {
  const length = secret.length;
  for (let i = 0; i < length; i++) if (guess[i] !== secret[i]) left[at(secret, i)]!++;
  let marks = 0;
  for (let i = 0, unit = 1; i < length; i++, unit *= 3) {
    if (guess[i] === secret[i]) marks += 2 * unit;
    else if (left[at(guess, i)]! > 0) {
      left[at(guess, i)]!--;
      marks += unit;
    }
  }
  for (let i = 0; i < length; i++) left[at(secret, i)] = 0;
  return marks;
}

/** In words: `c grey r yellow a green …`. */
export function marksInWords(guess: string, secret: string): string {
  let marks = attributesOf(guess, secret);
  return [...guess]
    .map((letter) => {
      const colour = colours[marks % 3]!;
      marks = Math.floor(marks / 3);
      return `${letter} ${colour}`;
    })
    .join(" ");
}

/** Words that would have been marked as the secret was at every guess. */
export function consistent(
  words: readonly string[],
  guesses: readonly string[],
  secret: string,
): readonly string[] {
  return guesses.reduce((kept: readonly string[], guess) => {
    const marks = attributesOf(guess, secret);
    return kept.filter((word) => attributesOf(guess, word) === marks);
  }, words);
}

/**
 * The guess after which fewest words are expected to be left, Σ n(marks)² / N, among all `words`; one that may itself be
 * the secret before others, then the first. With one or two words left, the first of them.
 */
export function bestGuess(words: readonly string[], possible: readonly string[]): string | undefined {
  if (possible.length <= 2) return possible[0];
  const open = new Set(possible);
  const counts = new Int32Array(3 ** (words[0]?.length ?? 0));
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) {
    counts.fill(0);
    for (const secret of possible) counts[attributesOf(word, secret)]!++;
    let squares = open.has(word) ? -0.5 : 0;
    for (const n of counts) squares += n * n;
    if (squares < least) [best, least] = [word, squares];
  }
  return best;
}
