/** Layouts of eight attributes of which five matter, and what a critic of them can be asked. */
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";
import { type Asked, criticReward, noDefects } from "./criticRewards.ts";

const [attributes, rules] = [8, 5] as const;
/** Deviation of a person's score, and how far an answer may be off. */
const [noise, tolerance] = [0.5, 0.6] as const;

export type Layout = readonly boolean[];
/** What of a layout can be wrong; the attribute of the same number decides. */
export const defectNames = Array.from({ length: rules }, (_, r) => `d${r}`);
const scores = Array.from({ length: rules + 1 }, (_, s) => `${s}`);
const kinds = ["score", "defects", "compare"] as const;
export type Kind = (typeof kinds)[number];

export const drawLayout = (random: Random): Layout =>
  Array.from({ length: attributes }, (_, a) => random.split(a).next() < 0.5);

/** A world of layouts. Whether an attribute should be on is drawn once. */
export interface Layouts extends Environment {
  /** Defects of a layout, in order. */
  defectsOf(layout: Layout): readonly string[];
  /** Rules that are kept, 0 to 5. */
  qualityOf(layout: Layout): number;
}

/** `+0 -1 …`: which attributes are on. */
const textOf = (layout: Layout, mark = ""): string =>
  layout.map((on, a) => `${mark}${on ? "+" : "-"}${a}`).join(" ");
/** The question to a critic about one layout, or two. */
export const questionOf = (kind: Kind, first: Layout, second: Layout = []): string =>
  [kind, textOf(first), ...(kind === "compare" ? ["or", textOf(second, "b")] : [])].join(" ");

const askedIn = (task: Task): Asked => task.metadata.asked as unknown as Asked;

export { askedIn };

/**
 * Questions about `items` layouts, of the kinds that are asked in turn: a score from 0 to 5, the defects, or which of two layouts is better, A or B.
 * Labels are a person's: scores have normal noise with deviation 0.5, and comparisons follow from two such scores; defects are true.
 */
export function layouts({
  items = 100,
  asks = kinds,
  seed = 1,
}: {
  readonly items?: number;
  readonly asks?: readonly Kind[];
  readonly seed?: number;
} = {}): Layouts {
  const wanted = drawLayout(randomStream(seed).split("wanted"));
  const defectsOf = (layout: Layout): readonly string[] =>
    defectNames.filter((_, r) => layout[r] !== wanted[r]);
  const qualityOf = (layout: Layout): number => rules - defectsOf(layout).length;
  const scored = (layout: Layout, random: Random): number => qualityOf(layout) + noise * random.normal();
  const item = (question: number): { readonly text: string; readonly asked: Asked } => {
    const own = randomStream(seed).split("item", question);
    const kind = asks[question % asks.length]!;
    const [first, second] = [drawLayout(own.split("first")), drawLayout(own.split("second"))];
    const [a, b] = [scored(first, own.split("a")), scored(second, own.split("b"))];
    const asked: Asked =
      kind === "score"
        ? { kind, score: a }
        : kind === "defects"
          ? { kind, defects: defectsOf(first) }
          : { kind, better: a > b ? "A" : "B" };
    return { text: questionOf(kind, first, second), asked };
  };
  const environment = oneReply({
    name: "layouts",
    summary: "say how good a layout is, what is wrong with it, or which of two is better",
    questions: items,
    length: rules,
    words: [...scores, ...defectNames, noDefects, "A", "B"],
    seed,
    ask: (question) => item(question).text,
    metadata: (question) => ({ asked: item(question).asked as never }),
    grade: (task, reply) => {
      const success = criticReward(askedIn(task), reply, { tolerance }) === 2;
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: (task) => {
      const asked = askedIn(task);
      if (asked.kind === "score") return `${Math.min(rules, Math.max(0, Math.round(asked.score)))}`;
      return asked.kind === "compare" ? asked.better : asked.defects.join(" ") || noDefects;
    },
  });
  return { ...environment, defectsOf, qualityOf };
}
export { tolerance };

/** The question, and what was said of defects. */
function read(context: readonly string[]) {
  const kind = kinds.find((word) => context.includes(word)) ?? "score";
  const begun = context.slice(context.lastIndexOf("<assistant>") + 1);
  const seen = context.filter((word) => /^b?[+-]\d$/.test(word));
  return { kind, begun, seen };
}

/** Linear in the attributes: of the layout; of those about which nothing was said yet; or of those in which two layouts differ. */
export const layoutFeatures = (context: readonly string[]): readonly string[] => {
  const { kind, begun, seen } = read(context);
  const last = Math.max(-1, ...begun.map((word) => Number(word.slice(1))).filter(Number.isInteger));
  const kept = seen.filter((word) => {
    if (kind === "defects") return Number(word.slice(1)) > last;
    return kind === "score" || !seen.includes(word.startsWith("b") ? word.slice(1) : `b${word}`);
  });
  return [`${kind} ${begun.length > 0}`, ...kept.map((word) => `${kind} ${word}`)];
};

/** Any answer in form; defects in order. At first a critic prefers what it is shown first. */
export const layoutPrior = (context: readonly string[], word: string): number => {
  const { kind, begun } = read(context);
  const never = -1e9;
  const [first] = begun;
  if (kind !== "defects" || first === noDefects) {
    if (first !== undefined) return word === "<end>" ? 0 : never;
    if (kind === "defects") return word === noDefects || defectNames.includes(word) ? 0 : never;
    if (kind === "score") return scores.includes(word) ? 0 : never;
    return word === "A" ? 0.5 : word === "B" ? 0 : never;
  }
  if (word === "<end>" || (word === noDefects && first === undefined))
    return first === undefined && word === "<end>" ? never : 0;
  const last = begun.at(-1);
  return defectNames.includes(word) && (last === undefined || word > last) ? 0 : never;
};
