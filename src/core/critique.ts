/** Feedback in words on a finished trajectory. */
import type { Random } from "./random.ts";
import type { Trajectory } from "./types.ts";

/** Part of a turn's action text that a critique praises or blames: characters [from, to). */
export interface Mark {
  readonly turn: number;
  readonly from: number;
  readonly to: number;
  readonly good: boolean;
}

/** What a critic says. What it left open is absent. */
export interface Critique {
  readonly text: string;
  /** "inefficient": it came to the right end, in more turns than it needed. */
  readonly verdict?: "success" | "inefficient" | "failure";
  /** The first turn that it would do otherwise, from 0. */
  readonly turn?: number;
  /** Parts that overlap contradict each other: a critic gives none that do. */
  readonly marks?: readonly Mark[];
  /** How one of the run's own models wrote it, where one did: a critic can be learnt as well. */
  readonly written?: Trajectory;
}

/** How much a templated critique tells: whether it went well; also where it did not; also what would have been right there. */
export type CritiqueDetail = "verdict" | "hint" | "answer";

/** What is wanted of a templated critique. */
export interface CritiqueWish {
  /**
   * False asks for a misleading one. A success is called a failure; a failure is called a success where the verdict is
   * all that is said, and else blamed on another place, with a wrong remedy. Praise and blame of parts change sides.
   */
  readonly right: boolean;
  readonly detail: CritiqueDetail;
  readonly random: Random;
}
