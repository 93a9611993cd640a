/** Where texts that are looked up by likeness are kept, whatever keeps them. */
import type { PackedVector } from "./encoder.ts";
import type { Json } from "./json.ts";
import type { Provenance } from "./lessons.ts";
import type { Id } from "./words.ts";

/** Something to be found again. */
export interface Entry {
  readonly id: Id;
  /** What it is found by. */
  readonly text: string;
  /** What belongs to it: a lesson, a plan, an outcome… */
  readonly data?: Json;
  /** What it was made from: it goes when that is erased. */
  readonly from?: Provenance;
}

/** An entry as it is kept. */
export interface Shelved extends Entry {
  readonly vector: PackedVector;
  /** Id of the encoder that made the vector. */
  readonly encoder: string;
}

/** What has changed: an entry that is new or another one now, or one that is gone. */
export type Change =
  | { readonly kind: "put"; readonly place: number; readonly entry: Shelved }
  | { readonly kind: "gone"; readonly place: number; readonly id: Id };

/** Named collections of entries. Several processes may use one. */
export interface Shelf {
  /** All of it or nothing, on disk once the promise resolves. An entry takes the place of the one with its id. */
  put(collection: string, entries: readonly Shelved[]): Promise<void>;
  delete(collection: string, ids: readonly Id[]): Promise<void>;
  /** By place, in rising order: what was put or deleted after `place`. Each entry once, as it is now. */
  changes(collection: string, place: number): AsyncIterable<Change>;
}
