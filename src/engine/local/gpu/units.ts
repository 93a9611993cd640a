/** The arrays on a GPU that the graphs of an architecture read. */
import type { GpuArray } from "../../../tensor/wgsl/device.ts";
import {
  type Architecture,
  allParameters,
  trainedParameters,
  type Weights,
  wholeStacks,
} from "../parameters.ts";
import type { HeldArrays } from "./memory.ts";

/** An array on the device: one parameter, or several that graphs read as one. */
export interface Unit {
  readonly name: string;
  readonly parts: readonly { readonly name: string; readonly from: number; readonly count: number }[];
  readonly length: number;
}

/** The arrays that the graphs of an architecture read. */
export function unitsOf(a: Architecture): Unit[] {
  const whole = wholeStacks(a, "joined");
  const stackOf = new Map(whole.flatMap((s) => s.parts.map((part) => [part, s] as const)));
  const units = new Map<
    string,
    { name: string; parts: { name: string; from: number; count: number }[]; length: number }
  >();
  for (const p of allParameters(a)) {
    const name = stackOf.get(p.name)?.name ?? p.name;
    const unit = units.get(name) ?? { name, parts: [], length: 0 };
    const count = p.shape.reduce((x, y) => x * y, 1);
    unit.parts.push({ name: p.name, from: unit.length, count });
    unit.length += count;
    units.set(name, unit);
  }
  return [...units.values()];
}

/** Those of them that training changes. */
export function trainedUnits(a: Architecture): Unit[] {
  const trained = new Set(trainedParameters(a).map((p) => p.name));
  return unitsOf(a).filter((u) => trained.has(u.parts[0]!.name));
}

/** By the names of units. */
export type Arrays = ReadonlyMap<string, GpuArray>;

/** Arrays as the feeds of a program. */
export const named = (prefix: string, arrays: Arrays): Record<string, GpuArray> =>
  Object.fromEntries([...arrays].map(([name, x]) => [`${prefix}${name}`, x]));

/** The numbers of a unit's parts, side by side. */
export function joinedParts(u: Unit, from: Weights): Float32Array {
  if (u.parts.length === 1) return from.get(u.parts[0]!.name)!;
  const all = new Float32Array(u.length);
  for (const p of u.parts) all.set(from.get(p.name)!, p.from);
  return all;
}

export const arraysOf = (units: readonly Unit[], from: Weights, held: HeldArrays): Map<string, GpuArray> =>
  new Map(units.map((u) => [u.name, held.load(joinedParts(u, from))]));
