/** Adds candidates to the pool after evaluation on the held-out tasks. */
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Ctx } from "../../../core/context.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import type { Id, Stats } from "../../../core/types.ts";
import { playedUnder } from "../../../memory/instructed.ts";
import type { SearchSettings } from "./options.ts";
import type { Pool } from "./pool.ts";
import { heldBackOf, scoresOf } from "./scores.ts";

/** Result of an iteration. */
export interface Done {
  readonly pool: Pool;
  readonly stats: Stats;
}

/** The first candidate, with its rewards on the held-out tasks. */
export async function begin(ctx: Ctx, set: InstructionSet, settings: SearchSettings): Promise<Pool> {
  const proposed = ctx.artefacts.propose({
    name: "instructions",
    artefact: set,
    parents: [],
    why: "what the agent was told at first",
    origins: set.origins,
  });
  if ("refused" in proposed) {
    throw new WhetstoneError("config.invalid", {
      where: "reflective search: first",
      got: `instructions that give away tasks which are held out: their ${proposed.refused.join(", ")}`,
      expected: "instructions without the answers that are measured",
      fix: "Take the answers out of them.",
    });
  }
  const scores = scoresOf(await playedUnder(ctx, set, heldBackOf(ctx), 1, settings));
  const member = { id: proposed.id, parents: [], scores, turn: 0 };
  return { members: [member], tried: [], waiting: 0, merged: 0, found: false };
}

/** The pool with a candidate added, after evaluation on the held-out tasks. */
export async function joined(
  ctx: Ctx,
  pool: Pool,
  id: Id,
  set: InstructionSet,
  parents: readonly Id[],
  settings: SearchSettings,
): Promise<Pool> {
  const scores = scoresOf(await playedUnder(ctx, set, heldBackOf(ctx), 3, settings));
  const waiting = pool.waiting + Number(pool.merged + pool.waiting < settings.merges);
  return {
    ...pool,
    members: [...pool.members, { id, parents: [...parents], scores, turn: 0 }],
    waiting,
    found: true,
  };
}
