import type { Rollout } from "../../../core/slots.ts";
import { verdictCritique } from "../../../evaluator/verdictCritique.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { balancedAttempts, verdictsOn } from "../../../rollout/verdictsOn.ts";

/** Settings of {@link critiqueMixture}. */
export interface CritiqueMixtureOptions {
  readonly groupSize: number;
  readonly temperature: number;
  /** Share of the iteration's prompts that ask for a critique, in [0, 1). */
  readonly share: number;
}

/**
 * One batch of two kinds of prompts for one policy: most tasks are solved, and in place of the others attempts at those are judged.
 *
 *     n prompts:  n − [s n] tasks, G attempts each;   [s n] attempts (x, y), as many right as wrong, G verdicts each, r = 1[v = o]
 *
 * [·]: rounded; at least one task is solved. The judged attempts are drawn from those of this iteration and do not change within a group. Where
 * all attempts are right or all are wrong, there is one critique prompt at most, and the batch is smaller.
 *
 * Stats: those of `verdictsOn`. Paper: "Critique-Coder: Enhancing Coder Models by Critique Reinforcement Learning".
 */
export function critiqueMixture({ groupSize, temperature, share }: CritiqueMixtureOptions): Rollout {
  const solve = multiTurn({ groupSize, temperature });
  const writer = verdictCritique({ model: "policy", temperature });
  return async (ctx) => {
    const judged = Math.min(ctx.tasks.length - 1, Math.round(share * ctx.tasks.length));
    const solved = await solve({ ...ctx, tasks: ctx.tasks.slice(judged) });
    const inUnits = new Set(solved.units.flatMap(({ members }) => members));
    const attempts = solved.trajectories.filter(({ id }) => inUnits.has(id));
    const chosen = balancedAttempts(attempts, judged, ctx.random.split("judged"));
    const verdicts = await verdictsOn(ctx, chosen, { writer, groupSize, temperature });
    return {
      trajectories: [...solved.trajectories, ...verdicts.trajectories],
      units: [...solved.units, ...verdicts.units],
      stats: { ...solved.stats, ...verdicts.stats },
    };
  };
}
