/** The slots of a method that are in force at an iteration. */
import type { Method, Slots } from "../core/slots.ts";
import type { RunState } from "./state.ts";

/** The slots in force (the method's own, replaced by those of its active phases), and the phase's name. */
export function inForce({ slots, phases = [] }: Method, state: RunState): { slots: Slots; phase: string } {
  const { iteration } = state;
  const begun = phases
    .filter(({ from, until }) => from <= iteration && (until === undefined || iteration < until))
    .sort((a, b) => a.from - b.from);
  return {
    slots: Object.assign({ ...slots }, ...begun.map((p) => p.slots)),
    phase: begun.at(-1)?.name ?? state.phase,
  };
}
