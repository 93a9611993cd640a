/** Parses and evaluates arithmetic expressions over whole numbers, without running text as code. */

/** A fraction in lowest terms; `below` is positive. */
export interface Fraction {
  readonly above: number;
  readonly below: number;
}

export type Read =
  | { readonly value: Fraction; readonly numbers: readonly number[] }
  /** Why it could not be evaluated. */
  | { readonly wrong: "no sum" | "too long" | "divides by zero" | "too large" };

const longest = 200;

/**
 * The value of an expression of whole numbers with + - * / and brackets, with the usual precedence, and the numbers that
 * occur in it. Values are exact fractions. Never throws: for an invalid text it returns the reason.
 */
export function readSum(text: string): Read {
  const tokens = text.match(/\d+|[-+*/()]/g) ?? [];
  if (/[^\d\s()+*/-]/.test(text) || /\d\s+\d/.test(text)) return { wrong: "no sum" };
  if (tokens.length > longest) return { wrong: "too long" };
  const numbers: number[] = [];
  let at = 0;
  const take = (...among: readonly string[]): string | undefined =>
    among.includes(tokens[at] ?? "") ? tokens[at++] : undefined;

  function sum(): Fraction | undefined {
    let left = product();
    for (let sign = take("+", "-"); left && sign; sign = take("+", "-")) {
      const right = product();
      left = right && added(left, right, sign === "+" ? 1 : -1);
    }
    return left;
  }
  function product(): Fraction | undefined {
    let left = part();
    for (let sign = take("*", "/"); left && sign; sign = take("*", "/")) {
      const right = part();
      left = right && (sign === "*" ? times(left, right) : divided(left, right));
    }
    return left;
  }
  function part(): Fraction | undefined {
    if (take("(")) {
      const inner = sum();
      return take(")") === undefined ? undefined : inner;
    }
    if (take("-")) {
      const inner = part();
      return inner && { above: -inner.above, below: inner.below };
    }
    const number = /^\d+$/.test(tokens[at] ?? "") ? Number(tokens[at++]) : undefined;
    if (number === undefined) return undefined;
    numbers.push(number);
    return { above: number, below: 1 };
  }

  const value = sum();
  if (value === undefined || at < tokens.length) return { wrong: "no sum" };
  if (value.below === 0) return { wrong: "divides by zero" };
  return Number.isSafeInteger(value.above) && Number.isSafeInteger(value.below)
    ? { value, numbers }
    : { wrong: "too large" };
}

/** Reduces a fraction. A denominator of 0 (division by zero) is kept and propagates. */
function fraction(above: number, below: number): Fraction {
  if (below === 0) return { above: 1, below: 0 };
  const shared = divisor(Math.abs(above), Math.abs(below)) * Math.sign(below);
  return { above: above / shared, below: below / shared };
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
const added = (a: Fraction, b: Fraction, sign: 1 | -1): Fraction =>
  fraction(a.above * b.below + sign * b.above * a.below, a.below * b.below);
const times = (a: Fraction, b: Fraction): Fraction => fraction(a.above * b.above, a.below * b.below);
const divided = (a: Fraction, b: Fraction): Fraction =>
  b.below === 0 ? b : fraction(a.above * b.below, a.below * b.above);
