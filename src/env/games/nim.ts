/** Nim: take from a heap; who takes the last one wins. */
import type { Game } from "./game.ts";

const names = ["a", "b", "c", "d"] as const;

interface Heaps {
  readonly heaps: readonly number[];
  readonly turn: number;
}

/** Settings of {@link nim}. */
export interface NimOptions {
  /** Number of heaps, at most 4. Default 3. */
  readonly heaps?: number;
  /** Games begin with 1 to this many in each heap. Default 3. */
  readonly most?: number;
}

/**
 * The roles take turns; a move, `a 2`, takes that many from a heap. Payoffs 1 and −1. Who moves wins exactly if the bitwise exclusive
 * or of the heaps is not 0. Every start from 1 to `most` in each heap is a deal.
 * Paper: "Nim, A Game with a Complete Mathematical Theory" (Bouton, 1901).
 */
export function nim({ heaps: count = 3, most = 3 }: NimOptions = {}): Game<Heaps> {
  const deals = Array.from(
    { length: most ** count },
    (_, i): Heaps => ({
      heaps: Array.from({ length: count }, (_, h) => 1 + (Math.floor(i / most ** h) % most)),
      turn: 0,
    }),
  );
  return {
    name: "nim",
    summary: "take things from heaps in turn, and take the last one; solved exactly",
    rules: "nim : a move is a heap and how many to take from it . who takes the last one wins",
    roles: ["first", "second"],
    sum: "zero",
    sees: "state",
    deals,
    forfeit: 1,
    turns: count * most,
    moveTokens: 2,
    acting: ({ heaps, turn }) => (heaps.every((n) => n === 0) ? undefined : turn),
    legal: ({ heaps }) =>
      heaps.flatMap((n, h) => Array.from({ length: n }, (_, i) => `${names[h]!} ${i + 1}`)),
    after({ heaps, turn }, move) {
      const [name, taken] = move.split(" ");
      return { heaps: heaps.map((n, h) => (names[h] === name ? n - Number(taken) : n)), turn: 1 - turn };
    },
    // who would move has lost
    payoffs: ({ turn }) => (turn === 0 ? [-1, 1] : [1, -1]),
    told: ({ heaps }) => [heaps.map((n, h) => `${names[h]!} has ${n}`).join(" , ")],
  };
}
