/** An iteration that merges the changes of two candidates. */
import type { Ctx } from "../../../core/context.ts";
import type { Experience } from "../../../core/slots.ts";
import { type Done, joined } from "./join.ts";
import type { Merged } from "./merge.ts";
import type { SearchSettings } from "./options.ts";
import type { Pool } from "./pool.ts";
import { scoresOf, sumOf } from "./scores.ts";

/** The merge joins the pool if it earned at least as much as the better parent on its evaluation tasks. */
export async function mergeTurn(
  ctx: Ctx,
  pool: Pool,
  { of, set, key }: Merged,
  { trajectories }: Experience,
  settings: SearchSettings,
): Promise<Done> {
  const noted = { ...pool, found: false, tried: [...pool.tried, key] };
  const scores = scoresOf(trajectories);
  const tasks = Object.keys(scores);
  const bar = Math.max(
    ...pool.members.filter(({ id }) => of.includes(id)).map((one) => sumOf(one.scores, tasks)),
  );
  // if every episode failed, there is no evidence for the merge
  if (tasks.length === 0 || sumOf(scores, tasks) < bar) return { pool: noted, stats: { merged: 0 } };
  const proposed = ctx.artefacts.propose({
    name: "instructions",
    artefact: set,
    parents: [...of],
    why: "of two, each text that only one of them had changed",
    origins: set.origins,
  });
  if ("refused" in proposed || pool.members.some(({ id }) => id === proposed.id))
    return { pool: noted, stats: { merged: 0 } };
  const after = await joined(ctx, noted, proposed.id, set, of, settings);
  return {
    pool: { ...after, waiting: pool.waiting - 1, merged: pool.merged + 1, found: false },
    stats: { merged: 1 },
  };
}
