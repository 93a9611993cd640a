/** An iteration that rewrites one text of one candidate. */

import { transcriptWithoutSystem } from "../../../common/text/transcript.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Experience } from "../../../core/slots.ts";
import { paid } from "../../../core/types.ts";
import { playedUnder } from "../../../memory/instructed.ts";
import { type Done, joined } from "./join.ts";
import type { SearchSettings } from "./options.ts";
import type { Member, Pool } from "./pool.ts";
import { proposalOf } from "./proposal.ts";
import type { Told } from "./reflector.ts";
import { practisedOf, scoresOf, setOf, sumOf } from "./scores.ts";

/** The rewritten candidate joins the pool if it earns more on the same tasks than its parent. */
export async function rewriteTurn(
  ctx: Ctx,
  pool: Pool,
  parent: Member,
  evidence: Experience,
  settings: SearchSettings,
): Promise<Done> {
  const turned = {
    ...pool,
    found: false,
    members: pool.members.map((one) => (one.id === parent.id ? { ...one, turn: one.turn + 1 } : one)),
  };
  const stats = (proposals: number, refused: number, joined: number) => ({
    proposals,
    "proposals.refused": refused,
    joined,
  });
  const attempts = await rolloutQueue(ctx, evidence, settings);
  if (attempts.every(({ reward }) => reward >= settings.perfect))
    return { pool: turned, stats: stats(0, 0, 0) };
  const proposal = await proposalOf(ctx, setOf(ctx, parent.id), parent.turn, attempts, settings);
  const proposed =
    proposal &&
    ctx.artefacts.propose({
      name: "instructions",
      artefact: proposal.set,
      parents: [parent.id],
      why: proposal.why,
      origins: proposal.set.origins,
    });
  if (!proposed || "refused" in proposed || pool.members.some(({ id }) => id === proposed.id))
    return { pool: turned, stats: stats(1, 1, 0) };
  const before = scoresOf(evidence.trajectories);
  const after = scoresOf(await playedUnder(ctx, proposal.set, practisedOf(ctx), 2, settings));
  const both = Object.keys(before).filter((task) => Object.hasOwn(after, task));
  if (sumOf(after, both) <= sumOf(before, both)) return { pool: turned, stats: stats(1, 0, 0) };
  return {
    pool: await joined(ctx, turned, proposed.id, proposal.set, [parent.id], settings),
    stats: stats(1, 0, 1),
  };
}

async function rolloutQueue(
  ctx: Ctx,
  experience: Experience,
  { tell }: SearchSettings,
): Promise<readonly Told[]> {
  const ended = experience.trajectories.filter(({ end }) => end.kind !== "failed");
  return Promise.all(
    ended.map(async (t) => ({
      trajectory: t.id,
      transcript: transcriptWithoutSystem(t),
      feedback: await tell(ctx, t, experience),
      reward: paid(t),
    })),
  );
}
