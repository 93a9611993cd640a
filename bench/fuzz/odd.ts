/** Values that are odd: numbers that no double holds, texts that no database takes, names that objects have already. */
import type { Random } from "../../src/core/random.ts";

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const pick = <T>(items: readonly T[], random: Random): T => items[random.below(items.length)]!;

export const oddNumbers = [
  "1e999",
  "-1e999",
  "1e-400",
  "-0",
  "9007199254740993",
  "123456789012345678901234567890",
  "0.1e+400",
] as const;
export const oddTexts = [
  "",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "toString",
  "a".repeat(5000),
  "../../etc/passwd",
  "a/b.c/..",
  "'; drop table signals; --",
  "{{7*7}}",
  "\u202e\u200b",
  "1e5",
  "🙂".repeat(300),
] as const;

/** Any JSON value, as text. */
export function oddJson(random: Random, depth = 4): string {
  switch (random.below(depth > 0 ? 7 : 5)) {
    case 0:
      return pick(oddNumbers, random);
    case 1:
      return JSON.stringify(pick(oddTexts, random));
    case 2:
      return pick(["null", "true", "false", "[]", "{}"], random);
    case 3:
      return String(random.below(2 ** 31) - 2 ** 30);
    case 4:
      return JSON.stringify(randomText(random));
    case 5:
      return `[${Array.from({ length: random.below(5) }, () => oddJson(random, depth - 1)).join(",")}]`;
    default: {
      const keys = [...oddTexts, "kind", "messages", "value", "response", "about", "role", "content"];
      const entries = Array.from(
        { length: random.below(5) },
        () => `${JSON.stringify(pick(keys, random))}:${oddJson(random, depth - 1)}`,
      );
      return `{${entries.join(",")}}`;
    }
  }
}

export const randomText = (random: Random): string =>
  Array.from({ length: random.below(20) }, () => String.fromCharCode(random.below(0xffff))).join("");
export const noise = (random: Random, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => random.below(256));

/** JSON that is right but for one place. @param value what stands there, as text. Default: any that is odd. */
export function mutated(
  text: string,
  random: Random,
  value: (random: Random) => string = (own) => oddJson(own, 2),
): string {
  // a value of it, or the name of a field
  const places = [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+|true|false|null/g)];
  if (places.length === 0) return value(random);
  const place = pick(places, random);
  const before = text.slice(0, place.index);
  const after = text.slice(place.index + place[0].length);
  const isName = after.startsWith(":");
  return before + (isName ? JSON.stringify(pick(oddTexts, random)) : value(random)) + after;
}

/** A few bytes of it are others. */
export function damaged(body: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(body.length > 0 ? body : bytes("{}"));
  for (let n = 1 + random.below(4); n > 0; n--) copy[random.below(copy.length)] = random.below(256);
  return copy;
}

/** Lists or objects within one another, ended or not. */
export function deep(random: Random): string {
  const depth = 10 ** (1 + random.below(5));
  const [open, close] = pick([["[", "]"] as const, ['{"a":', "}"] as const], random);
  return open.repeat(depth) + (random.below(2) ? "1" : "") + (random.below(2) ? close.repeat(depth) : "");
}

/** Bytes of a large value: below, about and beyond what bodies may have. The largest are rare, since they take their time. */
const sizes = [2 ** 14, 2 ** 14, 2 ** 16, 2 ** 16, 2 ** 18, 2 ** 20 - 500, 2 ** 20, 2 ** 21] as const;

/** A value of many bytes, as JSON. */
export function large(random: Random): string {
  const size = random.below(50) === 0 ? 11 * 2 ** 20 : pick(sizes, random);
  const many = (each: (i: number) => string): string =>
    Array.from({ length: Math.floor(size / each(1000).length) }, (_, i) => each(i)).join(",");
  switch (random.below(6)) {
    case 0:
      return `"${"a".repeat(size)}"`;
    case 1:
      return `"${pick(["\\ud800", "\\u0000", "é", "🙂", "\\n", "# ", "`"], random).repeat(size >> 2)}"`;
    case 2:
      return "7".repeat(size);
    case 3:
      return `[${many((i) => `"${i}"`)}]`;
    case 4:
      return `{${many((i) => `"${i}":1`)}}`;
    default:
      return `${" ".repeat(size)}1`;
  }
}
