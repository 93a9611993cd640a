/** Where personal data and secrets stand in a text. */
import { isIP } from "node:net";

export interface Rule {
  /** What is written in its place, in brackets. */
  readonly name: string;
  readonly pattern: RegExp;
  /** How many characters of what the pattern found are really one, from its start. Default: all. */
  readonly length?: (found: string) => number;
  /** The same for all ways of writing the same. */
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

/** ISO 13616: the first four characters moved to the end, letters as 10…35, the remainder by 97 is 1. */
export function ibanCheck(iban: string): boolean {
  let remainder = 0;
  for (const c of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(c, 36))) remainder = (10 * remainder + Number(digit)) % 97;
  }
  return remainder === 1;
}

/** Words may follow an IBAN as if they belonged to it: the longest beginning that checks. */
function ibanLength(found: string): number {
  for (let end = found.length; end >= 15; end--) {
    const plain = bare(found.slice(0, end));
    if (plain.length < 15 || /\s/.test(found[end - 1]!)) continue;
    if (!/[A-Z\d]/.test(found[end] ?? " ") && ibanCheck(plain)) return end;
  }
  return 0;
}

const digitsIn = (text: string): number => text.replaceAll(/\D/g, "").length;

/** Of two that find the same place, the first one counts. No text makes one take more than linear time. */
export const personalData = {
  secret: {
    name: "secret",
    pattern: new RegExp(
      [
        "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\\s\\S]{0,8000}?-----END [A-Z ]{0,30}PRIVATE KEY-----",
        // as their makers mark them
        "(?<![A-Za-z\\d])(?:sk-|pk-|rk_|sk_|pk_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|pypi-|wst_|AIza)[\\w-]{16,400}",
        "(?<![A-Za-z\\d])(?:AKIA|ASIA)[A-Z\\d]{16}(?![A-Za-z\\d])",
        // JSON web tokens
        "(?<![\\w-])eyJ[\\w-]{8,4000}\\.[\\w-]{4,4000}\\.[\\w-]{0,2000}",
        "(?<=\\bBearer )[\\w.~+/=-]{12,2000}",
        // what is said to be one
        "(?<=\\b(?:api[_-]?key|secret|token|passw(?:or)?d|pwd)[\"']?\\s{0,3}[:=]\\s{0,3}[\"']?)[^\\s\"',;&\\[]{6,200}",
      ].join("|"),
      "gi",
    ),
  },
  email: {
    name: "email",
    pattern:
      /(?<![\p{L}\d._%+'-])[\p{L}\d._%+'-]{1,64}@(?:[\p{L}\d](?:[\p{L}\d-]{0,61}[\p{L}\d])?\.){1,8}\p{L}{2,24}(?![\p{L}\d])/gu,
    plain: (found) => found.toLowerCase(),
  },
  iban: {
    name: "iban",
    pattern: /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,4})?(?![a-z\d])/g,
    length: ibanLength,
    plain: bare,
  },
  card: {
    name: "card",
    pattern: /(?<![\d.,])[2-6](?:[ -]?\d){12,18}(?!\d)/g,
    length: whole((found) => luhn(bare(found))),
    plain: bare,
  },
  ip: {
    name: "ip",
    pattern:
      /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)|(?<![\w:.])(?:[\da-f]{0,4}:){2,7}(?:(?:\d{1,3}\.){3}\d{1,3}|[\da-f]{1,4})?(?![\w:])/gi,
    length: whole((found) => isIP(found) !== 0 && found !== "::"),
    plain: (found) => found.toLowerCase(),
  },
  phone: {
    name: "phone",
    pattern:
      /(?<![\w+])(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){6,13}(?![\d])|(?<![\w.-])\(\d{2,5}\)[ -]?\d{3,4}[ -]?\d{3,4}(?!\d)|(?<![\w.-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\w-])|(?<![\w.-])0\d{2,4}[ /-]\d{3,9}(?:[ -]\d{1,5})?(?![\w-])/g,
    length: whole((found) => digitsIn(found) >= 7 && digitsIn(found) <= 15),
    plain: bare,
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type PersonalData = keyof typeof personalData;
