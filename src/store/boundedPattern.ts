/** User-defined regular expressions with a bounded running time on every text. */
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Finder } from "./personalData.ts";

/** Most ways through a pattern that a matcher may have to try from one position, and most characters of a match. */
export const mostPaths = 500;
const mostCharacters = 10_000;

/**
 * Compiles a pattern whose number of ways through, and so the time per text position, is bounded:
 * ways(ab) = ways(a) ways(b), ways(a|b) = ways(a) + ways(b), ways(a{m,n}) = Σ ways(a)^k for k = m…n.
 * `*`, `+` and `{n,}` have no such bound, and backreferences and lookarounds are not counted: all are refused.
 * @throws WhetstoneError `option.range`.
 */
export function boundedPattern(where: string, pattern: string): Finder {
  const refused = (got: string, expected: string, fix: string): WhetstoneError =>
    new WhetstoneError("option.range", { where, got, expected, fix });
  let compiled: RegExp;
  try {
    compiled = new RegExp(pattern, "gu");
  } catch (e) {
    throw refused(messageOf(e), "a regular expression", "Correct the pattern.");
  }
  if (compiled.exec("")) {
    throw refused(
      `/${pattern}/, which matches the empty text`,
      "a pattern that matches at least one character",
      "Require at least one character.",
    );
  }
  const extent = extentOf(pattern);
  if (extent === undefined) {
    throw refused(
      `/${pattern}/`,
      "a pattern without backreferences and lookarounds",
      "Match only the text to be found, with \\b at its beginning and end.",
    );
  }
  const { ways, length } = extent;
  if (ways > mostPaths) {
    throw refused(
      `/${pattern}/ with ${Number.isFinite(ways) ? ways : "unlimited"} ways through it`,
      `at most ${mostPaths}, so that no text can make it run for minutes`,
      "Write {1,20} for +, {0,20} for *, and fewer parts of varying length.",
    );
  }
  if (length > mostCharacters) {
    throw refused(
      `/${pattern}/, which finds up to ${length} characters`,
      `at most ${mostCharacters}`,
      "Use fewer repetitions.",
    );
  }
  // a character has up to two UTF-16 units; \b looks at the characters beside the match
  return { pattern: compiled, shortest: 1, reach: 2 * length + 2, steps: ways * length };
}

/** Bounds of a pattern at one position: the ways through it, and the characters of the longest match. */
interface Extent {
  readonly ways: number;
  readonly length: number;
}

/** Computes the bounds of a pattern that compiles in Unicode mode. @returns nothing if it has parts that are not counted. */
export function extentOf(pattern: string): Extent | undefined {
  let at = 0;
  let countable = true;

  function alternatives(): Extent {
    let { ways, length } = sequence();
    while (pattern[at] === "|") {
      at++;
      const other = sequence();
      ways += other.ways;
      length = Math.max(length, other.length);
    }
    return { ways, length };
  }
  function sequence(): Extent {
    let [ways, length] = [1, 0];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      const next = repeated(atom());
      ways *= next.ways;
      length += next.length;
    }
    return { ways, length };
  }
  /** One character, class or group. */
  function atom(): Extent {
    const c = pattern[at++];
    if (c === "(") {
      const named = /^\?(?::|<[^=!>][^>]*>)/.exec(pattern.slice(at));
      if (named) at += named[0].length;
      else if (pattern[at] === "?") countable = false;
      const inner = alternatives();
      at++;
      return inner;
    }
    if (c === "[") {
      while (pattern[at] !== "]") at += pattern[at] === "\\" ? 2 : 1;
      at++;
    } else if (c === "\\") {
      if (/[1-9k]/.test(pattern[at]!)) countable = false;
      const long = /^(?:[pPu]\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/.exec(pattern.slice(at));
      at += long ? long[0].length : 1;
    }
    return { ways: 1, length: 1 };
  }
  function repeated({ ways, length }: Extent): Extent {
    const found = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(pattern.slice(at));
    if (!found) return { ways, length };
    at += found[0].length;
    const [, sign, low, comma, high] = found;
    const from = sign === "+" ? 1 : Number(low ?? 0);
    const to = sign === "?" ? 1 : sign || (comma && high === "") ? Infinity : Number(comma ? high : low);
    let sum = 0;
    for (let k = from; k <= to && sum <= mostPaths; k++) sum += ways ** k;
    return { ways: to === Infinity ? Infinity : sum, length: to * length };
  }
  const extent = alternatives();
  return countable ? extent : undefined;
}
