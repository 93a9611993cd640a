import { leastDeviation, moments, onTop } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { byPlace, byTrajectory, overAll, tokenRange } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link positionNormalised}. */
export interface PositionNormalisedOptions {
  /** Channel of the credits. Default "step". */
  readonly channel?: string;
  /** Compare the group's k-th credits with each other, or all credits of the group. Default "position". */
  readonly compare?: "position" | "group";
  /** Smallest deviation to divide by. Default 1e-4. */
  readonly floor?: number;
}

/**
 * Compares the k-th credit of each trajectory with the k-th credits of its group, on the tokens that led to it:
 *
 *     A[i, k] = (r[i, k] − mean_i r[i, k]) / max(std_i r[i, k], floor)
 *
 * Its tokens are those after the range of credit k − 1, up to the end of the range of credit k (a turn or a span of a
 * turn); tokens after the last range get 0. The missing credits of a trajectory that stopped early count as 0, so that
 * the others are compared with its failure, too. A trajectory without any credit is left out. If a position's credits
 * are all equal, its advantages are exactly 0, and it counts as dead.
 *
 * Paper: "From Reasoning Chains to Verifiable Subproblems: Curriculum Reinforcement Learning Enables Credit Assignment
 * for LLM Reasoning".
 */
export function positionNormalised(options: PositionNormalisedOptions = {}): Advantage<null> {
  const { channel = "step", compare = "position", floor = leastDeviation } = options;
  return {
    name: "positionNormalised",
    init: () => null,
    apply: ({ trajectories, units, channels }, _state, soFar) => {
      const byId = mapById(trajectories);
      const credits = byTrajectory(channels[channel] ?? []);
      const advantages = new Map<Id, Float32Array>();
      let compared = 0;
      let dead = 0;
      for (const group of Map.groupBy(units, (u) => u.group).values()) {
        const rows = group.flatMap((unit) =>
          unit.members.flatMap((id) => {
            const [t, own] = [byId.get(id), credits.get(id)];
            return t && own ? [{ t, own: own.toSorted((a, b) => byPlace(a.at, b.at)) }] : [];
          }),
        );
        const positions = Math.max(0, ...rows.map(({ own }) => own.length));
        const columns = Array.from({ length: positions }, (_, k) =>
          rows.map(({ own }) => own[k]?.value ?? 0),
        );
        const scales = columns.map((column) => moments(compare === "position" ? column : columns.flat()));
        compared += positions;
        dead += scales.filter((s) => s.deviation === 0).length;
        for (const { t, own } of rows) {
          const values = overAll(t, 0);
          let from = 0;
          own.forEach(({ at, value }, k) => {
            const { mean, deviation } = scales[k]!;
            const to = tokenRange(t, at)[1];
            values.fill(deviation === 0 ? 0 : (value - mean) / Math.max(deviation, floor), from, to);
            from = to;
          });
          advantages.set(t.id, values);
        }
      }
      const stats = compared > 0 ? { groups: compared, deadGroups: dead / compared } : { groups: 0 };
      return { advantages: onTop(advantages, soFar), next: null, stats };
    },
  };
}
