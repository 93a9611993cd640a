import type { Annotate } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link pivots}. */
export interface PivotsOptions {
  /** Default "pivot". */
  readonly note?: string;
}

/**
 * Marks where an attempt and its derived trajectory diverge: 0 for the shared turns, 1 from the pivot on.
 *
 *     note[t] = 1[t ≥ k]        k: turn of the lineage, for the retry, branch or rewrite, and for its parent
 *
 * A retry has its own pivot, an attempt the first one of its retries. Trajectories without such relatives have no note.
 * Paper: "R^3L: Reflect-then-Retry Reinforcement Learning with Language-Guided Exploration, Pivotal Credit, and Positive
 * Amplification".
 */
export function pivots({ note = "pivot" }: PivotsOptions = {}): Annotate {
  return async (_ctx, { trajectories }) => {
    const children = Map.groupBy(trajectories, (t) => t.lineage?.parent);
    const notes = new Map<Id, Float32Array>();
    for (const t of trajectories) {
      const made = (children.get(t.id) ?? []).map((child) => child.lineage!.turn);
      const own = t.lineage?.turn ?? (made.length > 0 ? Math.min(...made) : undefined);
      if (own !== undefined)
        notes.set(
          t.id,
          Float32Array.from(t.turns, (_, k) => (k < own ? 0 : 1)),
        );
    }
    return { [note]: notes };
  };
}
