import { mapById } from "../../../common/mapById.ts";
import { trajectoryRows } from "../../../common/tokens/pack.ts";
import type { Row } from "../../../core/batch.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens } from "../../../core/types.ts";
import { revision } from "./revisions.ts";

/** Settings of {@link withRevisions}. */
export interface WithRevisionsOptions {
  /** Instruction to the improver. Default "improve". */
  readonly instruction?: string;
}

/**
 * Adds revision rows to the rollout: for each pair of neighbours in a group (the first and second unit, the third and
 * fourth…), each reply as a revision of either: four rows per pair, without advantages, named by `revisions.ts`. For
 * replies of one turn; an unpaired last unit has no revision.
 */
export function withRevisions(rollout: Rollout, options: WithRevisionsOptions = {}): Rollout {
  const { instruction = "improve" } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const { codec } = ctx.model();
    const byId = mapById(own.trajectories);
    const rows: Row[] = [];
    for (const group of Map.groupBy(own.units, (u) => u.group).values()) {
      const members = group.flatMap((unit) =>
        unit.members.flatMap((id) => {
          const t = byId.get(id);
          return t ? [{ unit, t }] : [];
        }),
      );
      for (let i = 0; i + 1 < members.length; i += 2) {
        const pair = members.slice(i, i + 2);
        for (const { unit, t } of pair) {
          for (const draft of pair) {
            const none = new Float32Array(actionTokens(t));
            rows.push(...trajectoryRows(revision(t, draft.t, codec, instruction), unit, none).rows);
          }
        }
      }
    }
    return { ...own, rows: [...(own.rows ?? []), ...rows] };
  };
}
