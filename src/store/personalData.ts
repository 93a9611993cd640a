/** Finds personal data and secrets in a text. */
import { isIP } from "node:net";

/** A pattern for one spelling of a kind of data. */
export interface Finder {
  readonly pattern: RegExp;
  /** Length of the shortest text with a match, in characters. */
  readonly shortest: number;
  /** Length of the longest match including its lookahead, in characters. */
  readonly reach: number;
  /** Approximate matcher steps per text position. Default: negligible. */
  readonly steps?: number;
  /** Length of the valid part of a match, from its start; 0 if none. Default: the whole match. */
  readonly length?: (found: string) => number;
  /** If set, the pattern matches beginning and end marks, and the data is everything from one to the other. */
  readonly block?: { readonly isEnd: (text: string, from: number) => boolean; readonly longest: number };
}

export interface Rule {
  /** The name that replaces a match, in brackets. */
  readonly name: string;
  readonly finders: readonly Finder[];
  /** Normalises a match, so that all spellings of one value are equal. */
  readonly plain?: (found: string) => string;
}

const bare = (text: string): string => text.replaceAll(/[\s()./-]/g, "").toUpperCase();
const whole = (is: (found: string) => boolean) => (found: string) => (is(found) ? found.length : 0);

/** Luhn's check digit: every second digit from the right doubled, its digits added up, the sum divisible by 10. */
export function luhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 === 0;
}

const [zero, nine, letterA] = [0x30, 0x39, 0x41];
/** ISO 13616: letters count as 10…35. @returns the remainder by 97 of a number with that character written behind it. */
function behind(remainder: number, code: number): number {
  const value = code <= nine ? code - zero : (code | 0x20) - 0x20 - letterA + 10;
  return (remainder * (value < 10 ? 10 : 100) + value) % 97;
}

/**
 * ISO 13616: with the first four characters moved to the end, the remainder by 97 is 1. A match may include words after the
 * IBAN, so the longest prefix with a valid checksum counts.
 * @returns its length, 0 if no prefix is valid.
 */
export function ibanLength(found: string): number {
  const first: number[] = [];
  let [remainder, characters, longest] = [0, 0, 0];
  for (let i = 0; i < found.length; i++) {
    const code = found.charCodeAt(i);
    if (code === 0x20) continue;
    if (++characters <= 4) first.push(code);
    else remainder = behind(remainder, code);
    const isEnd = characters >= 15 && !/[A-Z\d]/.test(found[i + 1] ?? " ");
    if (isEnd && first.reduce(behind, remainder) === 1) longest = i + 1;
  }
  return longest;
}

const digitsIn = (text: string): number => text.replaceAll(/\D/g, "").length;

const secrets = new RegExp(
  [
    // keys with a provider's prefix
    "(?<![A-Za-z\\d])(?:sk-|pk-|rk_|sk_|pk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|pypi-|wst_|AIza)[\\w-]{16,400}",
    "(?<![A-Za-z\\d])(?:AKIA|ASIA)[A-Z\\d]{16}(?![A-Za-z\\d])",
    // JSON web tokens
    "(?<![\\w-])eyJ[\\w-]{8,4000}\\.[\\w-]{4,4000}\\.[\\w-]{0,2000}",
    "(?<=\\bBearer )[\\w.~+/=-]{12,2000}",
    // values labelled as a key, secret, token or password
    "(?<=\\b(?:api[_-]?key|secret|token|passw(?:or)?d|pwd)[\"']?\\s{0,3}[:=]\\s{0,3}[\"']?)[^\\s\"',;&\\[]{6,200}",
  ].join("|"),
  "gi",
);

/**
 * Of two rules that match the same range, the first wins. Each takes time linear in any text: parts of
 * varying length are bounded, and begin at few positions of a text or cannot fail late.
 */
export const personalData = {
  secret: {
    name: "secret",
    finders: [
      {
        pattern: /-----(?:BEGIN|END) [A-Z ]{0,30}PRIVATE KEY-----/gi,
        shortest: 54,
        reach: 60,
        block: { isEnd: (text, from) => /e/i.test(text[from + 5] ?? ""), longest: 8100 },
      },
      { pattern: secrets, shortest: 10, reach: 10_010 },
    ],
  },
  email: {
    name: "email",
    finders: [
      {
        pattern:
          /(?<![\p{L}\d._%+'-])[\p{L}\d._%+'-]{1,64}@(?:[\p{L}\d](?:[\p{L}\d-]{0,61}[\p{L}\d])?\.){1,8}\p{L}{2,24}(?![\p{L}\d])/gu,
        shortest: 6,
        reach: 1210, // letters may be two units each
      },
    ],
    plain: (found) => found.toLowerCase(),
  },
  iban: {
    name: "iban",
    finders: [
      {
        pattern: /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,4})?(?![a-z\d])/g,
        shortest: 15,
        reach: 50,
        length: ibanLength,
      },
    ],
    plain: bare,
  },
  card: {
    name: "card",
    finders: [
      {
        pattern: /(?<![\d.,])[2-6](?:[ -]?\d){12,18}(?!\d)/g,
        shortest: 13,
        reach: 50,
        length: whole((found) => luhn(bare(found))),
      },
    ],
    plain: bare,
  },
  ip: {
    name: "ip",
    finders: [
      {
        pattern:
          /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)|(?<![\w:.])(?:[\da-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[\da-f]{1,4})?(?![\w:])/gi,
        shortest: 3,
        reach: 60,
        length: whole((found) => isIP(found) !== 0 && found !== "::"),
      },
    ],
    plain: (found) => found.toLowerCase(),
  },
  phone: {
    name: "phone",
    finders: [
      {
        pattern:
          /(?<![\w+])(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){6,13}(?![\d])|(?<![\w.-])\(\d{2,5}\)[ -]?\d{3,4}[ -]?\d{3,4}(?!\d)|(?<![\w.-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\w-])|(?<![\w.-])0\d{2,4}[ /-]\d{3,9}(?:[ -]\d{1,5})?(?![\w-])/g,
        shortest: 7,
        reach: 60,
        length: whole((found) => digitsIn(found) >= 7 && digitsIn(found) <= 15),
      },
    ],
    plain: bare,
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type PersonalData = keyof typeof personalData;
