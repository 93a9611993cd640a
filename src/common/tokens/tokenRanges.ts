/** Token ranges within trajectories, and per-token arrays. */
import type { Credited } from "../../core/slots.ts";
import type { Id, Ref, Trajectory } from "../../core/types.ts";

/** Index of each turn's first action token within its trajectory, followed by the total, [turns + 1]. */
export function turnOffsets(t: Trajectory): Int32Array {
  const out = new Int32Array(t.turns.length + 1);
  t.turns.forEach((turn, k) => {
    out[k + 1] = out[k]! + (turn.tokens?.action.length ?? 0);
  });
  return out;
}

/** Half-open range of action tokens that a reference covers; empty outside the trajectory. */
export function tokenRange(t: Trajectory, at: Ref): readonly [from: number, to: number] {
  const offsets = turnOffsets(t);
  const total = offsets[t.turns.length]!;
  if (at.turn === undefined) return [0, total];
  const start = offsets[at.turn] ?? total;
  const end = offsets[at.turn + 1] ?? total;
  if (!at.span) return [start, end];
  return [Math.min(end, start + at.span[0]), Math.min(end, start + at.span[1])];
}

/** One number per turn, repeated over the turn's action tokens. */
export function overTurns(t: Trajectory, perTurn: ArrayLike<number>): Float32Array {
  const offsets = turnOffsets(t);
  const out = new Float32Array(offsets[t.turns.length]!);
  for (let k = 0; k < t.turns.length; k++) out.fill(perTurn[k] ?? 0, offsets[k]!, offsets[k + 1]!);
  return out;
}

/** One number on every action token. */
export function overAll(t: Trajectory, value: number): Float32Array {
  return new Float32Array(turnOffsets(t)[t.turns.length]!).fill(value);
}

/** References to all spans with the name `span`. */
export function spansOf(t: Trajectory, span: string): Ref[] {
  return t.turns.flatMap((turn, k) =>
    (turn.spans[span] ?? []).map((range) => ({ trajectory: t.id, turn: k, span: range })),
  );
}

/** Credits by trajectory. A trajectory without credits is absent. */
export function byTrajectory(credits: readonly Credited[]): Map<Id, Credited[]> {
  return Map.groupBy(credits, (c) => c.at.trajectory);
}

/** Sort order of references within a trajectory: by turn, then by start of the span; a whole turn comes before its spans. */
export function byPlace(a: Ref, b: Ref): number {
  return (a.turn ?? -1) - (b.turn ?? -1) || (a.span?.[0] ?? -1) - (b.span?.[0] ?? -1);
}
