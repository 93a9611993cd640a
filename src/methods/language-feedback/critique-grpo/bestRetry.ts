import { mapById } from "../../../common/mapById.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type Id, paid, succeeded, type Trajectory, type Unit } from "../../../core/types.ts";

/**
 * Keeps only the best retry of each group, in place of a randomly drawn first attempt: the group keeps its sampled size,
 * with one member that the policy alone might not have found.
 *
 *     y_1 … y_n, y′_1 … y′_n  ⟶  n − 1 of y, and y′_k with the highest return, a success before anything else
 *
 * A retry is a trajectory whose parent is another member of its group. The first of equals is kept, even if all of them
 * fail. The other retries are dropped, and their tokens count as discarded; the replaced first attempt stays among the
 * trajectories.
 * Paper: "Critique-GRPO: Advancing LLM Reasoning with Natural Language and Numerical Feedback".
 */
export function bestRetry(rollout: Rollout): Rollout {
  return async (ctx) => {
    const experience = await rollout(ctx);
    const byId = mapById(experience.trajectories);
    const left = new Set<Id>();
    const units: Unit[] = [];
    for (const [group, own] of Map.groupBy(experience.units, (unit) => unit.group)) {
      const members = new Set(own.flatMap((unit) => unit.members));
      const retryOf = (unit: Unit): Trajectory | undefined =>
        unit.members
          .flatMap((id) => byId.get(id) ?? [])
          .find(({ lineage }) => members.has(lineage?.parent ?? ""));
      const first = own.filter((unit) => !retryOf(unit));
      const retries = own.flatMap((unit) => {
        const t = retryOf(unit);
        return t ? [{ unit, worth: [Number(succeeded(t)), paid(t)] as const }] : [];
      });
      const [best, ...others] = retries.toSorted(
        (a, b) => b.worth[0] - a.worth[0] || b.worth[1] - a.worth[1],
      );
      const replaced = best ? ctx.random.split("replaced", group).below(first.length) : -1;
      units.push(...first.filter((_, i) => i !== replaced), ...(best ? [best.unit] : []));
      for (const { unit } of others) for (const id of unit.members) left.add(id);
    }
    const discarded = [...left].reduce((sum, id) => sum + actionTokens(byId.get(id)!), 0);
    ctx.count("tokens.discarded", discarded);
    const trajectories = experience.trajectories.filter(({ id }) => !left.has(id));
    return { ...experience, trajectories, units };
  };
}
