import { mapById } from "../../../common/mapById.ts";
import { overAll } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id, Trajectory } from "../../../core/types.ts";

/** What the last turn of a branch was paid: the attempt that its state was left with. */
export const paidLast = (t: Trajectory): number =>
  Object.values(t.turns.at(-1)?.rewards ?? {}).reduce((a, b) => a + b, 0);

/**
 * Imitates the best attempt of each state, weighted by its reward:
 *
 *     ỹ(s) = argmax_n r(y^n),   w(s) = exp(r(ỹ)/τ) / mean over states of exp(r(ỹ)/τ)
 *
 * r: the reward of the last turn alone, whatever earlier attempts were paid. The first of equals is the best. A state whose
 * attempts all fail is imitated with the smallest weight; dividing by the mean keeps the step size independent of τ. Units are
 * branches of states, as `candidatesPerState` makes them: tokens of their earlier turns are forced and have no weight. Stats:
 * `improved`, the share of states whose best attempt was paid more than its others on average.
 * Paper: "Recursive Introspection: Teaching Language Model Agents How to Self-Improve".
 */
export function bestOfState({ tau }: { readonly tau: number }): Advantage<null> {
  return {
    name: "bestOfState",
    init: () => null,
    apply: ({ trajectories, units }) => {
      const byId = mapById(trajectories);
      const states = [...Map.groupBy(units, ({ group }) => group).values()].flatMap((group) => {
        const tried = group.flatMap(({ members }) => members.flatMap((id) => byId.get(id) ?? []));
        const rewards = tried.map(paidLast);
        const most = Math.max(...rewards);
        const best = tried[rewards.indexOf(most)];
        const average = rewards.reduce((a, b) => a + b, 0) / rewards.length;
        return best ? [{ best, most, improves: most > average + 1e-9 }] : [];
      });
      // the largest exponent is taken out, so that a small τ does not overflow
      const top = Math.max(...states.map(({ most }) => most));
      const weights = states.map(({ most }) => Math.exp((most - top) / tau));
      const average = weights.reduce((a, b) => a + b, 0) / weights.length;
      const advantages = new Map<Id, Float32Array>(
        states.map(({ best }, i) => [best.id, overAll(best, weights[i]! / average)]),
      );
      const improved = states.filter(({ improves }) => improves).length / states.length;
      return { advantages, next: null, stats: states.length > 0 ? { improved } : {} };
    },
  };
}
