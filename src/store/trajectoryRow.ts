/** The row of a trajectory, and whether the retention rule keeps it. */
import type { Trajectory } from "../core/types.ts";
import { succeeded } from "../core/types.ts";
import type { TrajectoriesTable } from "./schema.ts";
import { bytesOf } from "./tokens.ts";
import { packTrajectory } from "./turns.ts";

/** A trajectory to be saved. */
export interface Saved {
  readonly trajectory: Trajectory;
  /** One number per action token, over all turns in order. */
  readonly advantage?: Float32Array;
  /** Which part of the run played it: "train", "before", "after"… */
  readonly phase: string;
  /** Default: the sum of all rewards that the environment paid. */
  readonly reward?: number;
}

/** One in this many older trajectories is kept, chosen by a hash of its id. */
export const keptOneIn = 100;

export const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

export function trajectoryRow(run: string, iteration: number, saved: Saved, kept: string): TrajectoriesTable {
  const { trajectory: t, phase, advantage } = saved;
  const paid = t.turns.flatMap((turn) => Object.values(turn.rewards));
  const reward = saved.reward ?? (paid.length > 0 ? paid.reduce((a, b) => a + b, 0) : Number.NaN);
  const judged = t.end.kind !== "done" || t.end.success !== undefined;
  return {
    run,
    iteration,
    phase,
    id: t.id,
    task: t.task,
    episode: t.episode,
    role: t.role,
    origin: t.origin,
    success: judged ? Number(succeeded(t)) : null,
    reward: orNull(reward),
    turns: t.turns.length,
    end_kind: t.end.kind,
    kept,
    ...packTrajectory(t),
    advantage: advantage === undefined ? null : bytesOf(advantage),
  };
}

/** Failed, truncated, or ended without success. An end without a success value is not a failure. */
export function whyKept({ trajectory: { id, end } }: Saved): "failed" | "sampled" | "recent" {
  if (end.kind !== "done" || end.success === false) return "failed";
  return fnv1a(id) % keptOneIn === 0 ? "sampled" : "recent";
}

/** FNV-1a, 32 bits, with a final mix: short ids differ in their last characters only. */
function fnv1a(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}
