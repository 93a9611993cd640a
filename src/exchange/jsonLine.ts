/**
 * A row as one line of JSON for every reader. The two Unicode separators that some readers treat as line ends are escaped,
 * and a lone surrogate, which is not a character, becomes U+FFFD: a single one makes `datasets` misread the whole file
 * without an error, and verifiers rejects it.
 */
export const jsonLine = (row: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify(row)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    // in this range, JSON.stringify only escapes lone surrogates
    .replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/g, "$1\ufffd")}\n`;
