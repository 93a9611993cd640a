/** Training rows beside those of a rollout's trajectories: for what someone else wrote about the policy's actions. */
import { mapById } from "../common/mapById.ts";
import { trajectoryRows } from "../common/tokens/pack.ts";
import type { Row } from "../core/batch.ts";
import type { Experience } from "../core/slots.ts";
import type { Trajectory, Turn, Unit } from "../core/types.ts";

/** What is made of each member of the units, in their order; nothing of members without a trajectory. */
export function ofMembers<T>(
  { trajectories, units }: Experience,
  make: (trajectory: Trajectory, unit: Unit) => readonly T[],
): T[] {
  const byId = mapById(trajectories);
  return units.flatMap((unit) =>
    unit.members.flatMap((id) => {
      const trajectory = byId.get(id);
      return trajectory ? make(trajectory, unit) : [];
    }),
  );
}

/**
 * Rows of origin "demonstrated", which a likelihood can be restricted to: they belong to the unit of the trajectory, have no
 * log-probabilities, and have advantage 1.
 * @param trajectory with the role of the rows.
 * @param turn the turn as it is written in place of the policy's.
 * @param action token ids of its action, which are the targets.
 */
export function demonstratedRows(
  trajectory: Trajectory,
  unit: Unit,
  turn: Turn,
  prompt: Int32Array,
  action: Int32Array,
): readonly Row[] {
  const unknown = new Float32Array(action.length).fill(Number.NaN);
  const written = { ...turn, tokens: { prompt, action, logp: unknown, behaviour: unknown }, spans: {} };
  const whole = { ...trajectory, turns: [written], origin: "demonstrated" } as const;
  return trajectoryRows(whole, unit, new Float32Array(action.length).fill(1)).rows;
}
