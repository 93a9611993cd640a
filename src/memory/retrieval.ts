/** Retrieval of texts by words and by embeddings. */
import { mapById } from "../common/mapById.ts";
import { type Encoder, packVector, unpackVector } from "../core/encoder.ts";
import type { Entry, EntryStore, StoredEntry } from "../core/entryStore.ts";
import type { Id } from "../core/types.ts";
import type { Hit } from "./greatest.ts";
import { hashedText } from "./hashedText.ts";
import { type VectorIndexOptions, vectorIndex } from "./vectorIndex.ts";
import { wordIndex } from "./wordIndex.ts";

/** Settings of {@link openRetrieval}. */
export interface RetrievalOptions extends VectorIndexOptions {
  /** Default: {@link hashedText}, which needs no package and no network. */
  readonly encoder?: Encoder;
  /** Persistent store of the entries, e.g. `openEntryStore("whetstone.sqlite")`. Default: none, entries are in memory only. */
  readonly store?: EntryStore;
  /** Name of the collection in the store. Default "memory". */
  readonly collection?: string;
}

/** How many entries a search returns, how it ranks them, and which it may return. */
export interface SearchOptions {
  /** Largest number of results. Default 10. */
  readonly count?: number;
  /** Ranking: by shared words, by vector similarity, or by both. Default "both". */
  readonly by?: "words" | "vectors" | "both";
  /** Filter of the entries. Default: all. */
  readonly keep?: (entry: Entry) => boolean;
}

/** An entry with its score: a cosine, a BM25 score, or a sum of reciprocal ranks; comparable within one search only. */
export interface Found {
  readonly entry: Entry;
  readonly score: number;
}

/** A searchable collection of texts. See {@link openRetrieval}. */
export interface Retrieval {
  readonly size: number;
  readonly encoder: Encoder;
  get(id: Id): Entry | undefined;
  /** Adds or replaces entries by id. They are persisted before they become searchable. */
  put(entries: readonly Entry[]): Promise<void>;
  delete(ids: readonly Id[]): Promise<void>;
  /** The best first. */
  search(query: string, options?: SearchOptions): Promise<readonly Found[]>;
  /** Applies changes that other processes have made since. @returns the number of changes. */
  refresh(): Promise<number>;
}

/** Constant of reciprocal rank fusion, from the paper: a larger value reduces the advantage of the first ranks. */
const flatness = 60;
/** Number of entries of each ranking that are merged, per requested result. */
const depth = 5;
/** Batch size of embedding and writing. */
const round = 500;

/**
 * An in-memory collection of texts, searched by words (BM25) and by vectors (see {@link vectorIndex}); with both,
 * by reciprocal rank fusion, which needs no common scale:
 *
 *     score(e) = Σ over rankings 1 / (60 + rank of e)            rank from 1; nothing where a ranking lacks it
 *
 * Incremental. Stored entries are read at the start, and re-embedded only where another encoder made their vectors.
 * Paper: "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods".
 */
export async function openRetrieval(options: RetrievalOptions = {}): Promise<Retrieval> {
  const { encoder = hashedText(), store, collection = "memory" } = options;
  const entries = new Map<Id, Entry>();
  const words = wordIndex();
  const vectors = vectorIndex(encoder.width, options);
  let seen = 0;

  function take({ vector, encoder: _, ...entry }: StoredEntry): void {
    entries.set(entry.id, entry);
    words.set(entry.id, entry.text);
    vectors.set(entry.id, unpackVector(vector));
  }
  function drop(id: Id): void {
    entries.delete(id);
    words.delete(id);
    vectors.delete(id);
  }
  async function embedded(some: readonly Entry[]): Promise<StoredEntry[]> {
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
      // of two entries with one id, only the later one is kept and embedded
      const last = [...mapById(some).values()];
      for (let i = 0; i < last.length; i += round) {
        const shelved = await embedded(last.slice(i, i + round));
        const first = await store?.put(collection, shelved);
        for (const entry of shelved) take(entry);
        // no other process has written in between, so these entries need not be read again
        if (first === seen + 1) seen += shelved.length;
      }
    },
    async delete(ids) {
      await store?.delete(collection, ids);
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
      if (!store) return 0;
      let changes = 0;
      const foreign: StoredEntry[] = [];
      for await (const { place, entry } of store.since(collection, seen)) {
        changes++;
        seen = place;
        if (entry.encoder === encoder.id) take(entry);
        else foreign.push(entry);
      }
      for (let i = 0; i < foreign.length; i += round)
        for (const entry of await embedded(foreign.slice(i, i + round))) take(entry);
      if ((await store.count(collection)) === entries.size) return changes;
      // all stored entries are in memory, so a different count means that another process has deleted some
      const left = new Set(await store.ids(collection));
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

/** Reciprocal rank fusion, best first; among equals, the one that occurs first. */
export function fused(rankings: readonly (readonly Hit[])[]): readonly Hit[] {
  const scores = new Map<Id, number>();
  for (const hits of rankings)
    for (const [rank, { id }] of hits.entries())
      scores.set(id, (scores.get(id) ?? 0) + 1 / (flatness + rank + 1));
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}
