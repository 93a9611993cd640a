/** Whether a text repeats `words` consecutive words of another, ignoring case and punctuation, i.e. was copied from it. */
export function quotes(text: string, source: string, words = 6): boolean {
  const said = wordsOf(text);
  const there = ` ${wordsOf(source).join(" ")} `;
  return said.some(
    (_, i) => i + words <= said.length && there.includes(` ${said.slice(i, i + words).join(" ")} `),
  );
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
