/** Untrusted text for logs and terminals. */

const escaped = (c: string): string => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/**
 * Escapes control characters and line breaks, so that untrusted text can neither control the terminal nor forge another
 * log line.
 */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);

/** The same for text of several lines: line feeds and tabs stay as they are. */
export const printable = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);

/** One line of JSON, also for readers that split at any of Unicode's line breaks, and for terminals. Parsed, it is the same value. */
export const jsonLine = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => c.split("").map(escaped).join(""));
