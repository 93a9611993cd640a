import type { Advantage } from "../core/slots.ts";
import type { Id } from "../core/types.ts";
import { spread } from "./returns.ts";

/**
 * The same number on every action token of every unit, regardless of feedback: imitation.
 *
 *     A[i] = value
 */
export function constant(value = 1): Advantage<null> {
  return {
    name: "constant",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const values = new Map<Id, number>(annotated.units.map((unit) => [unit.id, value]));
      return { advantages: spread(annotated, values, soFar), next: null, stats: {} };
    },
  };
}
