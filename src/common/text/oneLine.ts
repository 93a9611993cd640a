/** Untrusted text as one line, for logs. */

/**
 * Escapes control characters and line breaks, so that untrusted text can neither control the terminal nor forge another
 * log line.
 */
export const oneLine = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
