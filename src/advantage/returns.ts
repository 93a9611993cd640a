/** Shared by estimators: the return of each unit, and spreading one number over its action tokens. */
import { mapById } from "../common/mapById.ts";
import { overAll, tokenRange, turnOffsets } from "../common/tokens/tokenRanges.ts";
import type { Advantages, AnnotatedExperience } from "../core/slots.ts";
import type { Id, Ref, Trajectory, Unit } from "../core/types.ts";

/** Which channels count. */
export interface ChannelOptions {
  /** Channels whose credits are added up. Default: all. */
  readonly channels?: readonly string[];
  /** Channels that a unit must have: without one of them it has no value, whatever its other channels. Applies to values of units. Default: none. */
  readonly required?: readonly string[];
}

/** A unit with its return: the sum of all credits of its members. */
export interface Scored {
  readonly unit: Unit;
  readonly value: number;
}

/** Units with any credit, and its sum. A unit without credit has no value (not 0) and is left out. */
export function scoredUnits(
  annotated: AnnotatedExperience,
  { channels, required = [] }: ChannelOptions,
): Scored[] {
  const sums = new Map<Id, number>();
  const heard = required.map((name) => new Set(annotated.channels[name]?.map(({ at }) => at.trajectory)));
  for (const [name, credits] of Object.entries(annotated.channels)) {
    if (!(channels?.includes(name) ?? true)) continue;
    for (const { at, value } of credits) sums.set(at.trajectory, (sums.get(at.trajectory) ?? 0) + value);
  }
  return annotated.units.flatMap((unit) => {
    if (!heard.every((of) => unit.members.some((member) => of.has(member)))) return [];
    let value: number | undefined;
    for (const member of unit.members) {
      const sum = sums.get(member);
      if (sum !== undefined) value = (value ?? 0) + sum;
    }
    return value === undefined ? [] : [{ unit, value }];
  });
}

/** Scored units by group, in order of first appearance. */
export function scoredGroups(annotated: AnnotatedExperience, options: ChannelOptions): Scored[][] {
  return [...Map.groupBy(scoredUnits(annotated, options), (s) => s.unit.group).values()];
}

/**
 * The credits of each trajectory per turn, [turns]; a credit about the whole trajectory counts at its last turn. A
 * trajectory without any credit is absent.
 */
export const creditsByTurn = (
  annotated: AnnotatedExperience,
  options: ChannelOptions,
): Map<Id, Float64Array> =>
  creditsAt(
    annotated,
    options,
    (t) => t.turns.length,
    (t, at) => at.turn ?? t.turns.length - 1,
  );

/** Each credit at the last action token of its target, [action tokens]; only for trajectories with credit. */
export const creditsByToken = (
  annotated: AnnotatedExperience,
  options: ChannelOptions,
): Map<Id, Float64Array> =>
  creditsAt(
    annotated,
    options,
    (t) => turnOffsets(t).at(-1)!,
    (t, at) => Math.max(0, tokenRange(t, at)[1] - 1),
  );

/** Adds up credits in an array of `size` positions per trajectory; credits outside it are left out. */
function creditsAt(
  annotated: AnnotatedExperience,
  { channels }: ChannelOptions,
  size: (t: Trajectory) => number,
  place: (t: Trajectory, at: Ref) => number,
): Map<Id, Float64Array> {
  const byId = mapById(annotated.trajectories);
  const out = new Map<Id, Float64Array>();
  for (const [name, credits] of Object.entries(annotated.channels)) {
    if (!(channels?.includes(name) ?? true)) continue;
    for (const { at, value } of credits) {
      const t = byId.get(at.trajectory);
      if (!t) continue;
      const sums = out.get(t.id) ?? new Float64Array(size(t));
      out.set(t.id, sums);
      const index = place(t, at);
      if (index >= 0 && index < sums.length) sums[index]! += value;
    }
  }
  return out;
}

/** Default lower bound of the deviation that a difference is divided by, in the unit of the rewards. */
export const leastDeviation = 1e-4;

/** Adds an estimator's advantages to those of the earlier estimators in the list. */
export function onTop(made: Advantages, soFar: Advantages | undefined): Advantages {
  if (!soFar) return made;
  const out = new Map(soFar);
  for (const [id, own] of made) {
    const before = soFar.get(id);
    out.set(id, before ? own.map((a, i) => a + (before[i] ?? 0)) : own);
  }
  return out;
}

/** Puts each unit's number on every action token of its members, added to the advantages so far. */
export function spread(
  annotated: AnnotatedExperience,
  values: ReadonlyMap<Id, number>,
  soFar: Advantages | undefined,
): Advantages {
  const byId = mapById(annotated.trajectories);
  const out = new Map<Id, Float32Array>();
  for (const unit of annotated.units) {
    const value = values.get(unit.id);
    if (value === undefined) continue;
    for (const member of unit.members) {
      const t = byId.get(member);
      if (t) out.set(t.id, overAll(t, value));
    }
  }
  return onTop(out, soFar);
}

/** Mean and population deviation. Equal values have a deviation of exactly 0. */
export function moments(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const n = values.length;
  if (values.every((v) => v === values[0])) return { mean: values[0] ?? 0, deviation: 0 };
  let mean = 0;
  for (const v of values) mean += v / n;
  let square = 0;
  for (const v of values) square += (v - mean) ** 2 / n;
  return { mean, deviation: Math.sqrt(square) };
}

/** Stats of every group estimator. In a dead group all returns are equal, so it gives no gradient. */
export function groupStats(groups: readonly (readonly Scored[])[]): Record<string, number> {
  const dead = groups.filter((group) => group.every((s) => s.value === group[0]?.value)).length;
  const all = groups.flat().map((s) => s.value);
  const stats: Record<string, number> = { groups: groups.length };
  if (groups.length > 0) stats.deadGroups = dead / groups.length;
  if (all.length > 0) stats.return = moments(all).mean;
  return stats;
}
