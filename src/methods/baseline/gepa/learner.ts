/** Reflective search over an agent's instructions, as pieces of a method. */
import type { Rollout, Update } from "../../../core/slots.ts";
import { playedUnder } from "../../../memory/instructed.ts";
import { begin } from "./join.ts";
import { mergeTurn } from "./mergeTurn.ts";
import { type ReflectiveSearchOptions, settingsOf } from "./options.ts";
import { bestOf, meanScore, undominated } from "./pareto.ts";
import { planOf } from "./plan.ts";
import { keepPool } from "./pool.ts";
import { rewriteTurn } from "./rewriteTurn.ts";

/**
 * One iteration rewrites one text of one candidate. Its tasks are the training tasks and the held-out tasks (`isReserved`).
 * The rollout plays a candidate of the Pareto front on the iteration's tasks. The update lets a reflector rewrite one of
 * its texts, in turn, from these attempts and their feedback, and plays the new candidate on the same tasks. If its sum is
 * higher, it is evaluated on the held-out tasks and joins the pool. After an iteration that added a candidate, two
 * compatible candidates of the front, if there are any, are merged instead; a merge joins if it earns at least as much as
 * the better of the two on a few held-out tasks. The candidate with the highest held-out mean is current.
 *
 * A text that is too long, unchanged, or leaks a held-out task is refused and never played.
 * Stats: candidates, front, score.best, proposals, proposals.refused, joined, merged.
 * Paper: "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning".
 */
export function reflectiveSearch(options: ReflectiveSearchOptions): {
  readonly rollout: Rollout;
  readonly update: Update;
} {
  const settings = settingsOf(options);
  return {
    async rollout(ctx) {
      const { set, tasks } = planOf(ctx, settings);
      return { trajectories: await playedUnder(ctx, set, tasks, 0, settings), units: [] };
    },
    async update(ctx, _batch, _objectives, annotated) {
      const plan = planOf(ctx, settings);
      const begun = plan.pool ?? (await begin(ctx, plan.set, settings));
      const done = plan.merged
        ? await mergeTurn(ctx, begun, plan.merged, annotated, settings)
        : await rewriteTurn(ctx, begun, plan.parent ?? begun.members[0]!, annotated, settings);
      keepPool(ctx, done.pool);
      const best = bestOf(done.pool.members);
      if (best) ctx.artefacts.adopt(best.id);
      return {
        steps: 0,
        candidates: done.pool.members.length,
        front: undominated(done.pool.members).length,
        ...(best && { "score.best": meanScore(best) }),
        ...done.stats,
      };
    },
  };
}
