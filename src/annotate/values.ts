import { batchOf } from "../common/tokens/pack.ts";
import type { Annotate } from "../core/slots.ts";
import type { Id, ModelId } from "../core/types.ts";
import { actionTokens } from "../core/types.ts";

/** Settings of {@link values}. */
export interface ValuesOptions {
  /** The model whose heads are read. Default "critic". */
  readonly model?: ModelId;
  /** Its value heads; each becomes a note of that name. Default "value" alone. */
  readonly heads?: readonly string[];
}

/**
 * A critic's values before each action token: its value heads, read at the context in which the token was sampled.
 *
 *     V[a] = head(everything before action token a)
 *
 * Notes: one per head, [action tokens] of each trajectory. The value of a turn is that of its first token. A failed
 * episode, and one without action tokens, gets no note.
 * Paper: "Proximal Policy Optimization Algorithms".
 */
export function values({ model = "critic", heads = ["value"] }: ValuesOptions = {}): Annotate {
  return async (ctx, { trajectories }) => {
    const scored = trajectories.filter((t) => t.end.kind !== "failed" && actionTokens(t) > 0);
    const units = scored.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
    const blank = new Map(scored.map((t) => [t.id, new Float32Array(actionTokens(t))]));
    const { batch } = batchOf(scored, units, blank);
    const heard = scored.length > 0 ? (await ctx.model(model).score(batch, { heads })).heads : undefined;
    return Object.fromEntries(
      heads.map((head) => {
        const value_A = heard?.[head] ?? new Float32Array();
        const note = new Map<Id, Float32Array>();
        let from = 0;
        for (const t of scored) {
          note.set(t.id, value_A.slice(from, from + actionTokens(t)));
          from += actionTokens(t);
        }
        return [head, note];
      }),
    );
  };
}
