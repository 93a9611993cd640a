/** The questions of the facts environment: chains of relations, their wording, and which names are held out. */
import { randomStream, shuffled } from "../../core/random.ts";
import type { Task } from "../../core/words.ts";
import { countries, entries, follow, type Relation } from "./world.ts";

/**
 * What a question starts from. "native" and "place" are worded like "country", so that the first look-up fails:
 * a native name has no entry, and a place is a city.
 */
export type Start = "country" | "native" | "place" | "capital" | "city" | "currency" | "language";

export interface Chain {
  readonly name: string;
  readonly start: Start;
  /** Relations that the question names, in the order in which they are looked up. */
  readonly path: readonly Relation[];
  /** Look-ups and searches that a question needs if none fails. */
  readonly hops: number;
  /** Tasks of this chain per thousand of its split. Chains that are never trained on have their own thousand. */
  readonly share: number;
  readonly seen: boolean;
}

function chain(text: string, share: number, seen = true): Chain {
  const [start, ...path] = text.split(" > ") as [Start, ...Relation[]];
  const extra = start === "native" || start === "place" ? 1 : 0;
  return { name: text, start, path, hops: path.length + extra, share, seen };
}

const unseen = (text: string, share: number): Chain => chain(text, share, false);

export const chains: readonly Chain[] = [
  chain("country > capital", 25),
  chain("country > currency", 25),
  chain("country > language", 25),
  chain("country > continent", 20),
  chain("country > city", 15),
  chain("country > name", 20),
  chain("capital > country", 15),
  chain("city > country", 15),
  chain("currency > country", 20),
  chain("language > country", 20),
  chain("capital > population", 15),
  chain("city > population", 15),
  chain("country > capital > population", 20),
  chain("city > country > capital", 20),
  chain("currency > country > capital", 20),
  chain("language > country > city", 20),
  chain("native > capital", 30),
  chain("currency > country > capital > population", 20),
  chain("capital > country > continent", 80),
  chain("city > country > language", 85),
  chain("currency > country > continent", 30),
  chain("native > language", 20),
  chain("capital > country > currency", 150),
  chain("native > currency", 35),
  chain("language > country > currency", 20),
  chain("place > language", 110),
  chain("place > continent", 110),
  unseen("capital > country > language", 70),
  unseen("city > country > continent", 70),
  unseen("language > country > continent", 60),
  unseen("city > country > currency", 200),
  unseen("place > currency", 130),
  unseen("place > city", 70),
  unseen("native > city", 60),
  unseen("capital > country > city", 100),
  unseen("currency > country > city", 60),
  unseen("native > capital > population", 60),
  unseen("city > country > capital > population", 120),
];

export const frames = ["what is", "tell me", "name"] as const;

/** Two wordings of each relation; the rest of the question follows. */
export const relationWords: Readonly<Record<Relation, readonly [string, string]>> = {
  capital: ["the capital of", "the capital city of"],
  currency: ["the currency of", "the money used in"],
  language: ["the language of", "the tongue spoken in"],
  continent: ["the continent of", "the continent around"],
  city: ["a big city of", "a large town in"],
  name: ["the own name of", "the local name of"],
  population: ["the population of", "the number of people in"],
  country: ["", ""],
};

/** Two wordings of the country that something points to. */
export const countryWords: Readonly<
  Record<Exclude<Start, "country" | "native" | "place">, readonly [string, string]>
> = {
  capital: ["the country ruled from", "the country with the capital"],
  city: ["the country around", "the country with the city"],
  currency: ["the country that pays in", "the country with the currency"],
  language: ["the country that speaks", "the country with the language"],
};

/** What a task's metadata holds. */
export interface Asked {
  readonly chain: string;
  readonly start: Start;
  readonly path: readonly Relation[];
  readonly hops: number;
  /** The name that the question starts from. */
  readonly entity: string;
}
export const askedBy = (task: Task): Asked => task.metadata as unknown as Asked;

function wording({ start, path }: Chain, entity: string, variant: number): string {
  const frame = frames[variant % 3]!;
  const style = (i: number): 0 | 1 => (((variant >> i) & 1) === 0 ? 0 : 1);
  const parts = path.toReversed().map((relation, i) => {
    const direct = start === "country" || start === "native" || start === "place";
    if (relation === "country" && !direct) return countryWords[start][style(2)];
    return relationWords[relation][style(i % 2)];
  });
  return [frame, ...parts, entity].join(" ");
}

type Held = "train" | "validation" | "test";

/**
 * Which names are asked about where. Of a country's own name, its capital and its city at least one stays in
 * training, so that the words of the others occur there as answers: a word that never occurred could not be copied.
 */
function holdOut(): ReadonlyMap<string, Held> {
  const held = new Map<string, Held>();
  const random = randomStream("facts").split("hold out");
  shuffled(countries, random).forEach((c, i) => {
    const turn = (role: number): Held => {
      const place = (i + 3 * role) % 8;
      return place % 4 === 0 ? "test" : place === 1 ? "validation" : "train";
    };
    [c.name, c.capital, c.city].forEach((name, role) => {
      held.set(name, turn(role));
    });
  });
  const others = [
    ...new Set(
      countries.flatMap((c) => [
        c.currencies[0]!,
        c.languages[0]!,
        ...(c.native === undefined ? [] : [c.native]),
      ]),
    ),
  ];
  shuffled(others, random).forEach((name, i) => {
    held.set(name, i % 3 === 0 ? "test" : i % 9 === 1 ? "validation" : "train");
  });
  return held;
}

const starts: Readonly<Record<Start, readonly string[]>> = {
  country: countries.map((c) => c.name),
  native: countries.flatMap((c) => (c.native === undefined ? [] : [c.native])),
  place: countries.flatMap((c) => [c.capital, c.city]),
  capital: countries.map((c) => c.capital),
  city: countries.map((c) => c.city),
  currency: [...entries.values()].filter((e) => e.kind === "currency" && e.facts.country).map((e) => e.name),
  language: [...entries.values()].filter((e) => e.kind === "language" && e.facts.country).map((e) => e.name),
};

export const splits = ["train", "validation", "test", "unseen-chains"] as const;
export type Split = (typeof splits)[number];
const sizes: Readonly<Record<Split, number>> = {
  train: 1600,
  validation: 160,
  test: 400,
  "unseen-chains": 400,
};

/** All tasks of a split, in a fixed shuffled order. */
export function makeTasks(split: Split): readonly Task[] {
  const random = randomStream("facts").split(split);
  const held = holdOut();
  const wanted: Held = split === "unseen-chains" ? "test" : split;
  const tasks = chains
    .filter((c) => c.seen === (split !== "unseen-chains"))
    .flatMap((c) => {
      const options = starts[c.start]
        .filter((name) => held.get(name) === wanted && follow(name, path(c)) !== undefined)
        .flatMap((entity) => [0, 1, 2, 3, 4, 5, 6, 7].map((variant) => ({ entity, variant })));
      // spread over entities first, over wordings second
      const order = shuffled(options, random.split(c.name));
      const count = new Map<string, number>();
      const ranked = order
        .map((o) => {
          const n = (count.get(o.entity) ?? 0) + 1;
          count.set(o.entity, n);
          return { ...o, n };
        })
        .sort((a, b) => a.n - b.n);
      const asked = new Set<string>();
      return ranked
        .map((o) => ({ ...o, question: wording(c, o.entity, o.variant) }))
        .filter((o) => !asked.has(o.question) && asked.add(o.question))
        .slice(0, Math.round((c.share * sizes[split]) / 1000))
        .map((o) => toTask(c, o.entity, o.question));
    });
  return shuffled(tasks, random.split("order"));
}

/** A place's country is looked up although the question does not say so. */
function path(c: Chain): readonly Relation[] {
  return c.start === "place" ? ["country", ...c.path] : c.path;
}

function toTask(c: Chain, entity: string, question: string): Task {
  const { name, start, hops } = c;
  return {
    id: `facts/${question}`,
    prompt: [{ role: "user", content: question }],
    reference: follow(entity, path(c))![0]!,
    metadata: {
      chain: name,
      start,
      path: c.path,
      hops,
      entity,
    } satisfies Asked as unknown as Task["metadata"],
    seed: randomStream(question).seed,
  };
}

/** Every right answer to a task. */
export function rightAnswers(task: Task): readonly string[] {
  const { start, path: named, entity } = askedBy(task);
  return follow(entity, start === "place" ? ["country", ...named] : named) ?? [];
}
