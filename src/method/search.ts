/**
 * Searches the catalogue in the words of its texts and of its users. Uses no network and no model. The words of a question count
 * where they stand in an entry; the words of papers for the same topic count less; an entry that is about a topic by what it
 * declares (its family, what it learns from, what it needs) counts even if its text says it otherwise.
 */
import MiniSearch from "minisearch";
import { type CatalogueEntry, slotsOf } from "./entry.ts";
import { type Topic, topics } from "./topics.ts";

/** An entry that was found. */
export interface Found {
  readonly entry: CatalogueEntry;
  /** What speaks for it, as the end of a sentence: "it learns from pairs: one reply preferred to another". */
  readonly why: string;
}

/** How much words of a topic, and words that a question denies, count beside its own. */
const kinship = 0.5;
/** What an entry about a topic gets, in shares of the best text's score; twice that if the question names the topic twice. */
const declared = 0.4;
/** Entries below this share of the best score only share a common word with the question. */
const faint = 0.12;

/** @returns the matching entries, best first, each with the reason; empty when none matches. */
export function searchCatalogue(query: string, among: readonly CatalogueEntry[]): readonly Found[] {
  const question = read(query);
  const index = indexOf(among);
  const texts = byTexts(question, index);
  const scored = among.map((entry) => {
    const text = texts.get(entry.id) ?? { score: 0, stems: new Set<string>() };
    const about = question.topics.filter(({ topic }) => isAbout(entry, topic, index));
    const shares = about.map(({ times }) => declared * Math.min(times, 2));
    const named = entry.id === query.trim().toLowerCase();
    const score = shares.reduce((sum, share) => sum + share, text.score) + (named ? 100 : 0);
    return { entry, score, why: reason(entry, text.stems, question) };
  });
  const most = Math.max(...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= faint * most)
    .sort((a, b) => b.score - a.score)
    .map(({ entry, why }) => ({ entry, why }));
}

/** A question, as it is searched. */
interface Question {
  /** Its words as they are written. */
  readonly words: readonly string[];
  /** Stems of what it asks for. */
  readonly own: ReadonlySet<string>;
  /** Stems of words of its topics, and of what it says there is none of. */
  readonly kin: ReadonlySet<string>;
  /** Its topics, and how many of their words it has. */
  readonly topics: readonly { readonly topic: Topic; readonly times: number }[];
}

/** Words that say nothing about a method. */
const empty = new Set(
  `a am an and any are as at be been but by can could did do does every few for from get gets give gives had has have how i if in
  into is it its just make many me more most much my of on one only or our please really should so some something than that the
  their them there these they thing this those to too up very want wants was we were what when where which who why will with would
  you your agent method model policy`.split(/\s+/),
);
const negations = new Set("no not without lack lacks never don't cannot can't none".split(" "));

function read(query: string): Question {
  const own = new Set<string>();
  const absent = new Set<string>();
  for (const part of query.split(/[,;.:!?]|\bbut\b|\bso\b|\band\b/i)) {
    // a negation holds for the two words that follow it
    let negated = 0;
    for (const word of tokens(part)) {
      if (negations.has(word)) negated = 2;
      else if (!empty.has(word)) (negated-- > 0 ? absent : own).add(stem(word));
    }
  }
  const named = topics.map((topic) => ({
    topic,
    times: topic.asked.filter((phrase) => says(query, phrase, own, absent)).length,
  }));
  // "without pairs" does not ask for pairs, whatever else it asks for
  const denied = ({ asked }: Topic): boolean => asked.some((phrase) => absent.has(stem(phrase)));
  const asked = named.filter(({ topic, times }) => times > 0 && !denied(topic));
  const means = asked.flatMap(({ topic }) => topic.means.flatMap(stems));
  const kin = new Set([...absent, ...means].filter((word) => !own.has(word)));
  return { words: query.match(/[\p{L}\p{N}*]+(?:[-'’][\p{L}\p{N}*]+)*/gu) ?? [], own, kin, topics: asked };
}

/** Does a question say a phrase? Several words have to stand in it as they are, up to their endings. */
function says(query: string, phrase: string, own: ReadonlySet<string>, absent: ReadonlySet<string>): boolean {
  const [first = "", ...rest] = phrase.split(" ");
  if (first === "no") return stems(rest.join(" ")).every((word) => absent.has(word));
  if (rest.length === 0) return own.has(stem(phrase)) || own.has(stem(phrase.replaceAll("-", "")));
  return ` ${stems(query).join(" ")} `.includes(` ${stems(phrase).join(" ")} `);
}

/** What is searched of a list of entries; a page asks the same list for every letter that is typed. */
interface Index {
  readonly texts: MiniSearch<{ readonly id: string }>;
  /** Stems of what is said of an entry's mechanism. */
  readonly said: ReadonlyMap<CatalogueEntry, ReadonlySet<string>>;
}
const indices = new WeakMap<readonly CatalogueEntry[], Index>();

function indexOf(among: readonly CatalogueEntry[]): Index {
  const known = indices.get(among);
  if (known) return known;
  const texts = new MiniSearch<{ readonly id: string }>({
    fields: ["id", "family", "summary", "paper", "mechanism", "equation", "slots"],
    tokenize: tokens,
    processTerm: stem,
  });
  texts.addAll(among.map((m) => ({ ...m, slots: slotsOf(m).join(" ") })));
  const said = new Map(
    among.map((entry) => [entry, new Set(stems(`${entry.summary} ${entry.mechanism ?? ""}`))] as const),
  );
  const index = { texts, said };
  indices.set(among, index);
  return index;
}

/** Scores from 0 to 1 by the entries' texts, with the stems that were found. */
function byTexts(
  { own, kin }: Question,
  { texts }: Index,
): ReadonlyMap<string, { readonly score: number; readonly stems: ReadonlySet<string> }> {
  const results = texts.search([...own, ...kin].join(" "), {
    boost: { id: 6, summary: 3, paper: 2 },
    tokenize: (text) => text.split(" "),
    processTerm: (term) => term,
    boostTerm: (term) => (own.has(term) ? 1 : kinship),
    prefix: (term) => own.has(term) && term.length > 2,
    fuzzy: (term) => (own.has(term) && term.length > 5 ? 0.2 : false),
  });
  const best = results[0]?.score ?? 1;
  return new Map(
    results.map(({ id, score, queryTerms }) => [
      String(id),
      { score: score / best, stems: new Set(queryTerms) },
    ]),
  );
}

/** By what it declares or, for a topic that nothing declares, by two of its words in what is said of the mechanism. */
function isAbout(entry: CatalogueEntry, { about, means }: Topic, { said }: Index): boolean {
  if (about) return about.holds(entry);
  const words = said.get(entry)!;
  return means.filter((phrase) => stems(phrase).every((word) => words.has(word))).length >= 2;
}

function reason(entry: CatalogueEntry, found: ReadonlySet<string>, { words, own, topics }: Question): string {
  const declares = topics.flatMap(({ topic: { about } }) => (about?.holds(entry) ? [about.why] : []));
  const said = words.filter((word) => stems(word).some((part) => own.has(part) && found.has(part)));
  if (said.length > 0) declares.push(`says ${quoted(said)}`);
  if (declares.length > 0) return declares.join("; ");
  const near = topics.flatMap(({ topic }) =>
    topic.means.filter((phrase) => stems(phrase).some((part) => found.has(part))),
  );
  return `is about ${quoted(near.length > 0 ? near : words)}`;
}

const quoted = (words: readonly string[]): string =>
  [...new Set(words)].map((word) => `"${word}"`).join(", ");

/** Words in lower case; a word with a hyphen counts as it is, without the hyphen, and as its parts. */
function tokens(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}*]+(?:[-'’/][\p{L}\p{N}*]+)*/gu) ?? [];
  return words.flatMap((word) =>
    word.includes("-") ? [word, word.replaceAll("-", ""), ...word.split("-")] : [word],
  );
}

/** The stem of an English word, roughly: "failed", "fails" and "failing" are one. */
function stem(word: string): string {
  if (word.length < 4) return word.toLowerCase();
  return word
    .toLowerCase()
    .replace(/(?<=..)ies$/, "y")
    .replace(/(?<=[^s])s$/, "")
    .replace(/(?<=....)(?:ing|ed)$/, "")
    .replace(/(?<=...)e$/, "");
}

const stems = (text: string): string[] => tokens(text).map(stem);
