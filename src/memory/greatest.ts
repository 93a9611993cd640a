import type { Id } from "../core/types.ts";

/** A search result with its score; higher is better. */
export interface Hit {
  readonly id: Id;
  readonly score: number;
}

export interface Greatest {
  offer(row: number, score: number): void;
  /** In descending order of score; among equals, the one offered first. */
  all(): readonly { readonly row: number; readonly score: number }[];
}

/** Top-k selection: keeps the `count` highest scores offered, in order. For small counts. */
export function greatest(count: number): Greatest {
  const best: { row: number; score: number }[] = [];
  return {
    offer(row, score) {
      if (best.length >= count) {
        if (count < 1 || score <= best[count - 1]!.score) return;
        best.pop();
      }
      let place = best.length;
      while (place > 0 && best[place - 1]!.score < score) place--;
      best.splice(place, 0, { row, score });
    },
    all: () => best,
  };
}
