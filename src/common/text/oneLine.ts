/** Text of unknown origin as one line, such as of a log. */

/**
 * What steers a terminal or begins another line is written as an escape: whoever sends a name with a line break in it writes no
 * line of their own.
 */
export const oneLine = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
