import type { Id } from "../core/types.ts";

/** Something found, with how well it fits: the more the better. */
export interface Hit {
  readonly id: Id;
  readonly score: number;
}

export interface Greatest {
  offer(row: number, score: number): void;
  /** The greatest first; of equals the one that was offered first. */
  all(): readonly { readonly row: number; readonly score: number }[];
}

/** Keeps the `count` greatest of what it is offered, in order. For small counts. */
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
