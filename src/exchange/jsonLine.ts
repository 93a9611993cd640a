/**
 * A row as a line of JSON that every reader takes for one line of Unicode: the two separators that some take for ends of
 * lines are escaped, and half a surrogate pair, which is no character, becomes U+FFFD. One alone makes `datasets` misread
 * the whole file without a word, and verifiers refuse it.
 */
export const jsonLine = (row: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify(row)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    // JSON.stringify escapes no other characters of this range than those halves
    .replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, "$1\ufffd")}\n`;
