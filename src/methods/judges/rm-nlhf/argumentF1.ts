/** How well the arguments of a critique match those of another one. */

/** The arguments of a critique: its sentences and lines, each once, without those that are empty. */
export const argumentsIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/[.\n;]+/)
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  ),
];

/** The F1 of m matched arguments among `written` and `known` ones: 2PR / (P + R), P = m / written, R = m / known; 0 without a match. */
export const f1 = (matched: number, written: number, known: number): number =>
  matched === 0 ? 0 : (2 * matched) / (written + known);

/**
 * Number of pairs in which an argument of each side is matched, the most similar first and each argument once.
 * @param similarity of argument i of one side to argument j of the other. @param least similarity of a match.
 */
export function matches(similarity: readonly (readonly number[])[], least: number): number {
  const pairs = similarity
    .flatMap((row, i) => row.map((value, j) => ({ i, j, value })))
    .filter(({ value }) => value >= least)
    .sort((a, b) => b.value - a.value);
  const [left, right] = [new Set<number>(), new Set<number>()];
  for (const { i, j } of pairs) {
    if (left.has(i) || right.has(j)) continue;
    left.add(i);
    right.add(j);
  }
  return left.size;
}
