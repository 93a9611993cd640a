/** The contract of a store for texts that are looked up by similarity. */
import type { PackedVector } from "./encoder.ts";
import type { Json } from "./json.ts";
import type { Provenance } from "./trainingExamples.ts";
import type { Id } from "./types.ts";

/** A text with its data. */
export interface Entry {
  readonly id: Id;
  /** The text that is embedded and searched. */
  readonly text: string;
  /** Data that belongs to it: a lesson, a plan, an outcome… */
  readonly data?: Json;
  /** What it was made from. Erasing a source deletes the entry. */
  readonly from?: Provenance;
}

/** An entry as it is stored. */
export interface StoredEntry extends Entry {
  readonly vector: PackedVector;
  /** Id of the encoder that made the vector. */
  readonly encoder: string;
}

/** An entry and its position. Later writes have greater positions, also when they replace an entry. */
export interface EntryAtCursor {
  readonly place: number;
  readonly entry: StoredEntry;
}

/** Named collections of entries. Several processes may share one. */
export interface EntryStore {
  /**
   * Writes all entries or none; they are on disk once the promise resolves. An entry replaces the one with its id. Ids within
   * one call must differ.
   * @returns the position of the first entry; the others follow without a gap.
   */
  put(collection: string, entries: readonly StoredEntry[]): Promise<number>;
  delete(collection: string, ids: readonly Id[]): Promise<void>;
  /** Entries at positions after `place`, in order. */
  since(collection: string, place: number): AsyncIterable<EntryAtCursor>;
  count(collection: string): Promise<number>;
  ids(collection: string): Promise<readonly Id[]>;
}

/** A store that the caller has to close. */
export interface OpenEntryStore extends EntryStore {
  close(): Promise<void>;
}
