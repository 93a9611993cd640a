/** Keys and values of the rows that are sampled together, on a GPU. */
import type { Gpu, GpuArray } from "../../../tensor/wgsl/device.ts";
import { decodeRows, servingPlaces } from "../batchSizes.ts";
import { cacheNames } from "../cache.ts";
import type { DecoderConfig } from "../config.ts";
import { giveSlots, seenTokens } from "../readings.ts";
import type { Row } from "../samplingRow.ts";
import type { Pool } from "./memory.ts";
import { moveRows } from "./moves.ts";

export interface Cache {
  readonly slots: number;
  readonly places: number;
  readonly arrays: Readonly<Record<string, GpuArray>>;
}

export const noCache: Cache = { slots: 0, places: 0, arrays: {} };

export interface Caches {
  make(slots: number, places: number): Cache;
  drop(cache: Cache): void;
  /** Makes room for these rows, including those without a slot, and for as many tokens more, in the caches of all models. */
  makeRoom(of: readonly { cache: Cache }[], all: readonly Row[], more: number): Promise<void>;
}

export function gpuCaches(gpu: Gpu, c: DecoderConfig, pool: Pool): Caches {
  const caches: Caches = {
    make(slots, places) {
      const shape = [slots, c.kvHeads, places, c.headWidth];
      const arrays = cacheNames(c).map(
        (name) => [name, pool.take({ name, shape, dtype: "float32" })] as const,
      );
      return { slots, places, arrays: Object.fromEntries(arrays) };
    },
    drop: ({ arrays }) => pool.give(Object.values(arrays)),
    async makeRoom(of, all, more) {
      const slots = decodeRows(all.length);
      const enough = Math.min(
        servingPlaces(c.contextTokens),
        servingPlaces(Math.max(...all.map(seenTokens)) + more),
      );
      // one program reads all of them. Fewer would do: they are kept, so that programs do not change with every row that ends
      const places = Math.max(enough, ...of.map(({ cache }) => cache.places));
      const moves = giveSlots(all, slots);
      for (const by of of) {
        const old = by.cache;
        if (slots === old.slots && places === old.places) continue;
        const next = caches.make(slots, places);
        if (old.slots > 0) await moveRows(gpu, c, old, next, moves);
        by.cache = next;
        caches.drop(old);
      }
    },
  };
  return caches;
}
