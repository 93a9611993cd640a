/** Conversations of nine categories: four instructions in an order that means something, then questions. */
import { type Random, shuffled } from "../../core/random.ts";
import type { Conversation, Instruction, Line, Question } from "./instructions.ts";

const keys = ["alpha", "beta", "gamma", "delta"];
const values = ["red", "green", "blue", "white", "black"];
const drinks = ["tea", "juice", "milk", "water"];
const calls = ["ping", "knock", "beep"];
const replies = ["pong", "hello", "boop"];
const openings = ["well", "so"];
const endings = ["over", "please"];
const codeWords = ["fox", "owl", "cat", "elk"];
const numbers = [1, 2, 3];

/** Instructions in a row of questions about them; what is missing to four is filled with what nobody asks about. */
interface Plan {
  /** Instructions that have to come in this order. */
  readonly ordered: readonly Instruction[];
  readonly asks: readonly { readonly speaker: "amy" | "bob"; readonly question: Question }[];
}

interface Category {
  readonly name: string;
  readonly level: 1 | 2 | 3;
  plan(random: Random): Plan;
}

const oneOf = <T>(items: readonly T[], random: Random): T => items[random.below(items.length)]!;
const amy = (question: Question) => ({ speaker: "amy" as const, question });

/** A thing to remember under the first key, which no filler uses, and the question for it. */
function lookup(random: Random): { readonly given: Instruction; readonly ask: ReturnType<typeof amy> } {
  const key = keys[0]!;
  return {
    given: { kind: "remember", key, value: oneOf(values, random) },
    ask: amy({ kind: "value", key }),
  };
}

export const categories: readonly Category[] = [
  {
    name: "recall",
    level: 1,
    plan: (random) => ({ ordered: [lookup(random).given], asks: [] }),
  },
  {
    name: "lookup",
    level: 1,
    plan(random) {
      const { given, ask } = lookup(random);
      return { ordered: [given], asks: [ask] };
    },
  },
  {
    name: "format",
    level: 1,
    plan(random) {
      const { given, ask } = lookup(random);
      return { ordered: [given, { kind: "ending", word: oneOf(endings, random) }], asks: [ask] };
    },
  },
  {
    name: "tracking",
    level: 2,
    plan: (random) => ({
      ordered: [
        { kind: "count", value: oneOf(numbers, random) },
        { kind: "add", amount: oneOf(numbers, random) },
        { kind: "add", amount: oneOf(numbers, random) },
      ],
      asks: [amy({ kind: "total" })],
    }),
  },
  {
    name: "trigger",
    level: 2,
    plan(random) {
      const when = oneOf(calls, random);
      return {
        ordered: [{ kind: "trigger", when, reply: oneOf(replies, random) }],
        asks: [amy({ kind: "said", when })],
      };
    },
  },
  {
    name: "combination",
    level: 2,
    plan(random) {
      const { given, ask } = lookup(random);
      const forms: readonly Instruction[] = [
        { kind: "opening", word: oneOf(openings, random) },
        { kind: "ending", word: oneOf(endings, random) },
        { kind: "case", letters: oneOf(["upper", "lower"] as const, random), priority: 1 },
      ];
      return { ordered: shuffled([given, ...forms], random), asks: [ask] };
    },
  },
  {
    name: "privacy",
    level: 3,
    plan(random) {
      const code = `${oneOf(values, random)} ${oneOf(codeWords, random)}`;
      const question = { kind: "code" } as const;
      return {
        ordered: [{ kind: "secret", code }],
        asks: shuffled(
          [
            { speaker: "bob", question },
            { speaker: "amy", question },
          ],
          random,
        ),
      };
    },
  },
  {
    name: "preference",
    level: 3,
    plan(random) {
      const [usual, once] = shuffled(drinks, random);
      const ask = amy({ kind: "drink" });
      return {
        ordered: [
          { kind: "wish", drink: usual! },
          { kind: "exception", drink: once! },
        ],
        asks: [ask, ask],
      };
    },
  },
  {
    name: "priority",
    level: 3,
    plan(random) {
      const { given, ask } = lookup(random);
      const [first, second] = shuffled(["upper", "lower"] as const, random);
      const rules: readonly Instruction[] = [
        { kind: "case", letters: first!, priority: 1 },
        { kind: "case", letters: second!, priority: 2 },
      ];
      return { ordered: [given, ...shuffled(rules, random)], asks: [ask] };
    },
  },
];

/** Instructions of a conversation. */
export const instructionsGiven = 4;

/** A conversation of a category: its instructions among others, a line to be repeated, the category's questions. */
export function conversation({ name, level, plan }: Category, random: Random): Conversation {
  const { ordered, asks } = plan(random);
  const fillers = shuffled<Instruction>(
    keys.slice(1).map((key) => ({ kind: "remember", key, value: oneOf(values, random) })),
    random,
  );
  const missing = instructionsGiven - ordered.length;
  // places of the ordered ones among all, so that their order stays
  const places = new Set(shuffled([0, 1, 2, 3], random).slice(missing));
  const [own, other] = [[...ordered], fillers.slice(0, missing)];
  const given = Array.from({ length: instructionsGiven }, (_, i): Line => {
    return { speaker: "amy", gives: (places.has(i) ? own : other).shift()! };
  });
  const repeat = { speaker: "amy", asks: { kind: "repeat", line: random.below(instructionsGiven) } } as const;
  return {
    category: name,
    level,
    lines: [...given, repeat, ...asks.map(({ speaker, question }): Line => ({ speaker, asks: question }))],
  };
}

/** Every word that an instruction or a reply is made of, beside those of the sentences. */
export const vocabulary: readonly string[] = [
  ...keys,
  ...values,
  ...drinks,
  ...calls,
  ...replies,
  ...openings,
  ...endings,
  ...codeWords,
  ...Array.from({ length: 10 }, (_, n) => String(n)),
];
