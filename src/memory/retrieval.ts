/** Texts found again by their words and by their likeness. */
import { type Encoder, packVector, unpackVector } from "../core/encoder.ts";
import type { Entry, Shelf, Shelved } from "../core/entryStore.ts";
import type { Id } from "../core/types.ts";
import type { Hit } from "./greatest.ts";
import { hashedText } from "./hashedText.ts";
import { type VectorIndexOptions, vectorIndex } from "./vectorIndex.ts";
import { wordIndex } from "./wordIndex.ts";

/** Settings of {@link openRetrieval}. */
export interface RetrievalOptions extends VectorIndexOptions {
  /** Default: {@link hashedText}, which needs no package and no network. */
  readonly encoder?: Encoder;
  /** Where entries outlive the process, e.g. `openShelf("whetstone.sqlite")`. Default: nowhere. */
  readonly shelf?: Shelf;
  /** Name of the collection on the shelf. Default "memory". */
  readonly collection?: string;
}

export interface SearchOptions {
  /** Entries to find at the most. Default 10. */
  readonly count?: number;
  /** What decides: shared words, likeness of vectors, or both. Default "both". */
  readonly by?: "words" | "vectors" | "both";
  /** Which entries come into question. Default: all. */
  readonly keep?: (entry: Entry) => boolean;
}

/** An entry with how well it fits: a cosine, a BM25 score, or a sum of reciprocal ranks; comparable within one search only. */
export interface Found {
  readonly entry: Entry;
  readonly score: number;
}

export interface Retrieval {
  readonly size: number;
  readonly encoder: Encoder;
  get(id: Id): Entry | undefined;
  /** Adds entries, or puts them in the place of those with their ids; kept on the shelf before they are found. */
  put(entries: readonly Entry[]): Promise<void>;
  delete(ids: readonly Id[]): Promise<void>;
  /** The best first. */
  search(query: string, options?: SearchOptions): Promise<readonly Found[]>;
  /** Takes in what other processes have put and deleted since. @returns how many changes there were. */
  refresh(): Promise<number>;
}

/** In reciprocal rank fusion: the greater, the less the very first places matter. The paper's. */
const flatness = 60;
/** Entries of each ranking that are merged, for each one asked for. */
const depth = 5;
/** Texts that are embedded and written at a time. */
const round = 500;

/**
 * A collection of texts in memory, looked up exactly by words (BM25) and by vectors (see {@link vectorIndex}); with both,
 * by reciprocal rank fusion, which needs no common scale:
 *
 *     score(e) = Σ over rankings 1 / (60 + rank of e)            rank from 1; nothing where a ranking lacks it
 *
 * Incremental; what is on the shelf is read at the start, and embedded anew only where another encoder made its vector.
 * Paper: "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods".
 */
export async function openRetrieval(options: RetrievalOptions = {}): Promise<Retrieval> {
  const { encoder = hashedText(), shelf, collection = "memory" } = options;
  const entries = new Map<Id, Entry>();
  const words = wordIndex();
  const vectors = vectorIndex(encoder.width, options);
  let seen = 0;

  function take({ vector, encoder: _, ...entry }: Shelved): void {
    entries.set(entry.id, entry);
    words.set(entry.id, entry.text);
    vectors.set(entry.id, unpackVector(vector));
  }
  function drop(id: Id): void {
    entries.delete(id);
    words.delete(id);
    vectors.delete(id);
  }
  async function embedded(some: readonly Entry[]): Promise<Shelved[]> {
    const made = await encoder.embed(some.map(({ text }) => text));
    return some.map((entry, i) => ({ ...entry, vector: packVector(made[i]!), encoder: encoder.id }));
  }

  const retrieval: Retrieval = {
    get size() {
      return entries.size;
    },
    encoder,
    get: (id) => entries.get(id),
    async put(some) {
      // of two with one id the later one counts, and it alone is embedded
      const last = [...new Map(some.map((entry) => [entry.id, entry])).values()];
      for (let i = 0; i < last.length; i += round) {
        const shelved = await embedded(last.slice(i, i + round));
        const first = await shelf?.put(collection, shelved);
        for (const entry of shelved) take(entry);
        // nobody else has put anything in between: it need not be read again
        if (first === seen + 1) seen += shelved.length;
      }
    },
    async delete(ids) {
      await shelf?.delete(collection, ids);
      for (const id of ids) drop(id);
    },
    async search(query, { count = 10, by = "both", keep } = {}) {
      const kept = keep && ((id: Id): boolean => keep(entries.get(id)!));
      const wanted = by === "both" ? depth * count : count;
      const byWords = by === "vectors" ? [] : words.search(query, wanted, kept);
      const [vector] = by === "words" ? [] : await encoder.embed([query]);
      const byVectors = vector ? vectors.search(vector, wanted, kept) : [];
      const hits = by === "both" ? fused([byWords, byVectors]) : [...byWords, ...byVectors];
      return hits.slice(0, count).map(({ id, score }) => ({ entry: entries.get(id)!, score }));
    },
    async refresh() {
      if (!shelf) return 0;
      let changes = 0;
      const foreign: Shelved[] = [];
      for await (const { place, entry } of shelf.since(collection, seen)) {
        changes++;
        seen = place;
        if (entry.encoder === encoder.id) take(entry);
        else foreign.push(entry);
      }
      for (let i = 0; i < foreign.length; i += round)
        for (const entry of await embedded(foreign.slice(i, i + round))) take(entry);
      if ((await shelf.count(collection)) === entries.size) return changes;
      // all that was ever put is here: the numbers differ where something has been deleted
      const left = new Set(await shelf.ids(collection));
      for (const id of [...entries.keys()]) {
        if (left.has(id)) continue;
        drop(id);
        changes++;
      }
      return changes;
    },
  };
  await retrieval.refresh();
  return retrieval;
}

/** Reciprocal rank fusion, the best first; of equals the one that came first. */
export function fused(rankings: readonly (readonly Hit[])[]): readonly Hit[] {
  const scores = new Map<Id, number>();
  for (const hits of rankings)
    for (const [rank, { id }] of hits.entries())
      scores.set(id, (scores.get(id) ?? 0) + 1 / (flatness + rank + 1));
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}
