/** A game that is kept to be watched. */
import type { Role } from "../core/types.ts";

/** One game of two members, move by move. Long texts and long games are cut off. */
export interface Replay {
  /** The role that the first played; the second played all others. */
  readonly seat: Role;
  readonly moves: readonly {
    readonly role: Role;
    readonly by: string;
    /** What it read since its last move. */
    readonly read: string;
    readonly said: string;
  }[];
  /** Moves that are left out at the end. */
  readonly left: number;
  /** Payoff of the first and of the second. */
  readonly payoffs: readonly [number, number];
}
