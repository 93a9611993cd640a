/** Where texts that are looked up by likeness are kept, whatever keeps them. */
import type { PackedVector } from "./encoder.ts";
import type { Json } from "./json.ts";
import type { Provenance } from "./trainingExamples.ts";
import type { Id } from "./types.ts";

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

/** Where an entry stands: what is put later stands later, also what takes the place of another. */
export interface Placed {
  readonly place: number;
  readonly entry: Shelved;
}

/** Named collections of entries. Several processes may use one. */
export interface Shelf {
  /**
   * All of it or nothing, on disk once the promise resolves. An entry takes the place of the one with its id; of one call's
   * entries no two have the same.
   * @returns the place of the first; the others follow it without a gap.
   */
  put(collection: string, entries: readonly Shelved[]): Promise<number>;
  delete(collection: string, ids: readonly Id[]): Promise<void>;
  /** What stands behind `place`, in order. */
  since(collection: string, place: number): AsyncIterable<Placed>;
  count(collection: string): Promise<number>;
  ids(collection: string): Promise<readonly Id[]>;
}

/** A shelf that is to be closed. */
export interface OpenShelf extends Shelf {
  close(): Promise<void>;
}
