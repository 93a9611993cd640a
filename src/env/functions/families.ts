/** Small functions to write: families of one idea each, with parameters, a solution and a usual mistake. */
import type { Json } from "../../core/json.ts";
import type { Random } from "../../core/random.ts";

export interface Family {
  readonly name: string;
  /** Whether any function of it is trained. */
  readonly seen: boolean;
  /** The parameter takes each of these values, one for each task. */
  readonly parameters: readonly (string | number)[];
  /** What `solve` is to return. */
  readonly says: (k: string | number) => string;
  readonly solution: (k: string | number) => string;
  /** A usual mistake: parses, and is right for some arguments at most. */
  readonly slip: (k: string | number) => string;
  /** Arguments of one call. */
  readonly inputs: (random: Random) => readonly Json[];
}

const numbers = (random: Random, least = 0): number[] =>
  Array.from({ length: least + random.below(7) }, () => random.below(41) - 15);
const naturals = (random: Random): number[] => numbers(random, 1).map(Math.abs);
const words = (random: Random, least = 0): string[] =>
  Array.from({ length: least + random.below(6) }, () => word(random));
const word = (random: Random): string =>
  Array.from({ length: 1 + random.below(7) }, () => "abcdeilnorst"[random.below(12)]).join("");

const withNumbers = (random: Random): readonly Json[] => [numbers(random)];
const withWords = (random: Random): readonly Json[] => [words(random)];
const withSentence = (random: Random): readonly Json[] => [words(random, 1).join(" ")];
const small = [2, 3, 4, 5, 6, 7, 8, 9];

export const families: readonly Family[] = [
  {
    name: "sum above",
    seen: true,
    parameters: small,
    says: (k) => `solve(xs): the sum of the numbers in the array xs that are greater than ${k}`,
    solution: (k) =>
      `function solve(xs) {\n  return xs.filter((x) => x > ${k}).reduce((a, b) => a + b, 0);\n}`,
    slip: (k) => `function solve(xs) {\n  return xs.filter((x) => x > ${k}).reduce((a, b) => a + b);\n}`,
    inputs: withNumbers,
  },
  {
    name: "multiples",
    seen: true,
    parameters: small,
    says: (k) => `solve(xs): the numbers in the array xs that ${k} divides, in their order`,
    solution: (k) => `function solve(xs) {\n  return xs.filter((x) => x % ${k} === 0);\n}`,
    slip: (k) => `function solve(xs) {\n  return xs.filter((x) => x % ${k});\n}`,
    inputs: withNumbers,
  },
  {
    name: "long words",
    seen: true,
    parameters: small,
    says: (k) => `solve(words): the texts in the array words that have at least ${k} letters, in their order`,
    solution: (k) => `function solve(words) {\n  return words.filter((w) => w.length >= ${k});\n}`,
    slip: (k) => `function solve(words) {\n  return words.filter((w) => w.length > ${k});\n}`,
    inputs: withWords,
  },
  {
    name: "chunks",
    seen: true,
    parameters: small,
    says: (k) =>
      `solve(xs): the array xs cut into arrays of ${k}, the last one shorter where it does not come out even`,
    solution: (k) =>
      `function solve(xs) {\n  const out = [];\n  for (let i = 0; i < xs.length; i += ${k}) out.push(xs.slice(i, i + ${k}));\n  return out;\n}`,
    slip: (k) =>
      `function solve(xs) {\n  const out = [];\n  for (let i = 0; i + ${k} <= xs.length; i += ${k}) out.push(xs.slice(i, i + ${k}));\n  return out;\n}`,
    inputs: withNumbers,
  },
  {
    name: "rotation",
    seen: true,
    parameters: small,
    says: (k) =>
      `solve(xs): the array xs turned to the left by ${k} places: what leaves in front comes in at the back`,
    solution: (k) =>
      `function solve(xs) {\n  if (xs.length === 0) return [];\n  const n = ${k} % xs.length;\n  return [...xs.slice(n), ...xs.slice(0, n)];\n}`,
    slip: (k) => `function solve(xs) {\n  return [...xs.slice(${k}), ...xs.slice(0, ${k})];\n}`,
    inputs: withNumbers,
  },
  {
    name: "occurrences",
    seen: true,
    parameters: ["a", "e", "i", "o", "n", "r", "s", "t"],
    says: (k) => `solve(text): how often the letter ${k} occurs in text`,
    solution: (k) => `function solve(text) {\n  return text.split("${k}").length - 1;\n}`,
    slip: (k) => `function solve(text) {\n  return text.match(/${k}/g).length;\n}`,
    inputs: withSentence,
  },
  {
    name: "without",
    seen: true,
    parameters: ["a", "e", "i", "o", "n", "r", "s", "t"],
    says: (k) => `solve(text): text without any letter ${k}`,
    solution: (k) => `function solve(text) {\n  return text.replaceAll("${k}", "");\n}`,
    slip: (k) => `function solve(text) {\n  return text.replace("${k}", "");\n}`,
    inputs: withSentence,
  },
  {
    name: "largest",
    seen: true,
    parameters: small,
    says: (k) =>
      `solve(xs): the ${k} largest numbers of the array xs, the largest first, or all of them where there are fewer`,
    solution: (k) => `function solve(xs) {\n  return [...xs].sort((a, b) => b - a).slice(0, ${k});\n}`,
    slip: (k) => `function solve(xs) {\n  return [...xs].sort().reverse().slice(0, ${k});\n}`,
    inputs: withNumbers,
  },
  {
    name: "clamp",
    seen: true,
    parameters: small,
    says: (k) =>
      `solve(xs): the numbers of the array xs with those below 0 made 0 and those above ${k} made ${k}`,
    solution: (k) => `function solve(xs) {\n  return xs.map((x) => Math.min(${k}, Math.max(0, x)));\n}`,
    slip: (k) => `function solve(xs) {\n  return xs.map((x) => Math.max(${k}, Math.min(0, x)));\n}`,
    inputs: withNumbers,
  },
  {
    name: "digits",
    seen: true,
    parameters: small,
    says: (k) => `solve(xs): the numbers of the array xs, none of them negative, as texts in base ${k}`,
    solution: (k) => `function solve(xs) {\n  return xs.map((x) => x.toString(${k}));\n}`,
    slip: (k) => `function solve(xs) {\n  return xs.map((x) => parseInt(x, ${k}));\n}`,
    inputs: (random) => [naturals(random)],
  },
  {
    name: "tally",
    seen: true,
    parameters: ["length", "first letter", "last letter"],
    says: (k) => `solve(words): an object that counts the texts of the array words by their ${k}`,
    solution: (k) =>
      `function solve(words) {\n  const out = {};\n  for (const w of words) out[${keyOf(k)}] = (out[${keyOf(k)}] ?? 0) + 1;\n  return out;\n}`,
    slip: (k) =>
      `function solve(words) {\n  const out = {};\n  for (const w of words) out[${keyOf(k)}]++;\n  return out;\n}`,
    inputs: withWords,
  },
  {
    name: "weights",
    seen: true,
    parameters: small,
    says: (k) =>
      `solve(pairs): for the array pairs of [name, weight], the names whose weight is more than ${k}, in alphabetical order`,
    solution: (k) =>
      `function solve(pairs) {\n  return pairs.filter(([, w]) => w > ${k}).map(([name]) => name).sort();\n}`,
    slip: (k) => `function solve(pairs) {\n  return pairs.filter((name, w) => w > ${k}).sort();\n}`,
    inputs: (random) => [words(random, 1).map((w) => [w, random.below(12)])],
  },
  {
    name: "every so many",
    seen: false,
    parameters: small,
    says: (k) => `solve(xs): every ${k}th place of the array xs, beginning with the first`,
    solution: (k) => `function solve(xs) {\n  return xs.filter((_, i) => i % ${k} === 0);\n}`,
    slip: (k) => `function solve(xs) {\n  return xs.filter((x) => x % ${k} === 0);\n}`,
    inputs: withNumbers,
  },
  {
    name: "running",
    seen: false,
    parameters: small,
    says: (k) =>
      `solve(xs): an array of the sums of each number of the array xs and those before it, beginning from ${k}`,
    solution: (k) => `function solve(xs) {\n  let sum = ${k};\n  return xs.map((x) => (sum += x));\n}`,
    slip: (k) => `function solve(xs) {\n  return xs.map((x, i) => ${k} + x + xs[i - 1]);\n}`,
    inputs: withNumbers,
  },
];

const keyOf = (k: string | number): string =>
  k === "length" ? "w.length" : k === "first letter" ? "w[0]" : "w.at(-1)";
