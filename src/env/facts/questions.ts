/** The questions of the facts environment: chains of relations, their wording, and which names are held out. */
import { randomStream, shuffled } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";
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
  chain("country > capital", 20),
  chain("country > currency", 20),
  chain("country > language", 20),
  chain("country > continent", 10),
  chain("country > city", 20),
  chain("country > name", 10),
  chain("capital > country", 25),
  chain("city > country", 25),
  chain("currency > country", 10),
  chain("language > country", 10),
  chain("capital > population", 10),
  chain("city > population", 10),
  chain("country > capital > population", 15),
  chain("country > city > population", 10),
  chain("capital > country > name", 15),
  chain("city > country > capital", 15),
  chain("currency > country > capital", 10),
  chain("currency > country > city", 10),
  chain("language > country > city", 15),
  chain("language > country > name", 5),
  chain("native > capital", 15),
  chain("native > city", 10),
  chain("native > city > population", 10),
  chain("capital > country > city > population", 15),
  chain("currency > country > capital > population", 15),
  chain("language > country > capital > population", 15),
  chain("capital > country > continent", 80),
  chain("city > country > language", 85),
  chain("currency > country > continent", 30),
  chain("native > language", 20),
  chain("capital > country > currency", 150),
  chain("native > currency", 35),
  chain("language > country > currency", 20),
  chain("place > language", 110),
  chain("place > continent", 105),
  unseen("capital > country > language", 70),
  unseen("city > country > continent", 70),
  unseen("language > country > continent", 60),
  unseen("city > country > currency", 200),
  unseen("place > currency", 130),
  unseen("place > city", 70),
  unseen("capital > country > city", 90),
  unseen("language > country > capital", 60),
  unseen("city > country > name", 50),
  unseen("native > capital > population", 60),
  unseen("city > country > capital > population", 140),
];

export const frames = ["what is", "tell me", "find"] as const;

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
  const style = (i: number): 0 | 1 => ((Math.floor(variant / 3) >> i) & 1) as 0 | 1;
  const parts = path.toReversed().map((relation, i) => {
    const direct = start === "country" || start === "native" || start === "place";
    if (relation === "country" && !direct) return countryWords[start][style(1)];
    return relationWords[relation][style(i)];
  });
  return [frame, ...parts, entity].join(" ");
}

const wordings = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

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
      const place = (i + 3 * role) % 16;
      return place % 8 === 0 ? "test" : place === 1 ? "validation" : "train";
    };
    [c.name, c.capital, c.city].forEach((name, role) => {
      held.set(name, turn(role));
    });
  });
  const share = (names: Iterable<string>): void => {
    shuffled([...new Set(names)], random).forEach((name, i) => {
      held.set(name, i % 6 === 0 ? "test" : i % 12 === 1 ? "validation" : "train");
    });
  };
  share(countries.flatMap((c) => [c.currencies[0]!, c.languages[0]!]));
  const named = countries.filter((c) => c.native !== undefined);
  for (const c of named) held.set(c.native!, "train");
  share(named.filter((c) => held.get(c.name) === "train").map((c) => c.native!));
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
  train: 4000,
  validation: 160,
  test: 400,
  "unseen-chains": 400,
};

/** All tasks of a split, in a fixed shuffled order. */
export function makeTasks(split: Split): readonly Task[] {
  const random = randomStream("facts").split(split);
  const held = holdOut();
  const wanted: Held = split === "unseen-chains" ? "test" : split;
  const exposed = new Set<string>();
  const tasks: Task[] = [];
  for (const c of chains) {
    if (c.seen !== (split !== "unseen-chains")) continue;
    const names = starts[c.start].filter(
      (name) => held.get(name) === wanted && follow(name, path(c)) !== undefined,
    );
    const mixed = shuffled(names, random.split(c.name));
    // in training, first the questions in whose answers a held-out name occurs that no other brings in yet
    const news = (name: string): boolean =>
      onTheWay(c, name).some((n) => held.get(n) !== "train" && !exposed.has(n));
    const first = split === "train" ? [...mixed.filter(news), ...mixed.filter((n) => !news(n))] : mixed;
    const variants = first.map((name) => shuffled(wordings, random.split(c.name, name)));
    const questions = new Set<string>();
    const size = Math.round((c.share * sizes[split]) / 1000);
    for (let round = 0; round < wordings.length && questions.size < size; round++) {
      first.forEach((entity, i) => {
        const question = wording(c, entity, variants[i]![round]!);
        if (questions.size >= size || questions.has(question)) return;
        questions.add(question);
        tasks.push(toTask(c, entity, question));
        for (const name of onTheWay(c, entity)) exposed.add(name);
      });
    }
  }
  return shuffled(tasks, random.split("order"));
}

/** The names that come up when a question is answered. */
function onTheWay(c: Chain, entity: string): readonly string[] {
  return path(c).map((_, i) => follow(entity, path(c).slice(0, i + 1))![0]!);
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
