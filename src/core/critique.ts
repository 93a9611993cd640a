/** Feedback in words on a finished trajectory. */
import type { Random } from "./random.ts";
import type { Trajectory } from "./types.ts";

/** A quoted span that a critique praises or blames: characters [from, to) of a turn's action text. */
export interface Mark {
  readonly turn: number;
  readonly from: number;
  readonly to: number;
  readonly good: boolean;
}

/** A critique. Fields that the critiquer did not fill are absent. */
export interface Critique {
  readonly text: string;
  /** "inefficient": it succeeded, in more turns than necessary. */
  readonly outcome?: "success" | "inefficient" | "failure";
  /** The first turn that should have been different, from 0. */
  readonly turn?: number;
  /** Spans never overlap, since overlapping ones could contradict each other. */
  readonly marks?: readonly Mark[];
  /** The trajectory of the run's own model that wrote it, if one did, so that the critiquer can be trained. */
  readonly written?: Trajectory;
}

/** Detail of a templated critique: "outcome" gives the outcome; "hint" adds where it went wrong; "answer" adds what was right there. */
export type CritiqueDetail = "outcome" | "hint" | "answer";

/** Settings of a templated critique. */
export interface CritiqueRequest {
  /**
   * False asks for a misleading critique. It calls a success a failure. It calls a failure a success where the detail is
   * "outcome"; otherwise it blames another place and gives a wrong remedy. Praised and blamed spans are swapped.
   */
  readonly right: boolean;
  readonly detail: CritiqueDetail;
  readonly random: Random;
}
