import { givesAway } from "../../../common/text/leaksAnswer.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type Trajectory } from "../../../core/types.ts";

/**
 * Leaves out dialogues in which the task's reference answer was said to the policy after its first action: whoever
 * learnt from them would learn to copy. What the policy itself said does not count, nor does the task's own prompt.
 *
 * Their trajectories stay in the experience and out of the units; a unit goes with any of its members. Tasks without a
 * reference have nothing to leak. Counts tokens.discarded. Stats: leaked, per trajectory of a unit.
 * Paper: "Improving Interactive In-Context Learning from Natural Language Feedback".
 */
export function withoutLeaks(rollout: Rollout): Rollout {
  return async (ctx) => {
    const all = await rollout(ctx);
    const members = new Set(all.units.flatMap((unit) => unit.members));
    const compared = all.trajectories.filter((t) => members.has(t.id));
    const leaky = compared.filter((t) => {
      const { reference } = ctx.task(t.task);
      return saidTo(t).some((text) => givesAway(text, reference));
    });
    for (const t of leaky) ctx.count("tokens.discarded", actionTokens(t));
    const dropped = new Set(leaky.map((t) => t.id));
    return {
      ...all,
      units: all.units.filter((unit) => !unit.members.some((id) => dropped.has(id))),
      stats: { ...all.stats, ...(compared.length > 0 && { leaked: leaky.length / compared.length }) },
    };
  };
}

/** What was said to the policy once it had acted. */
function saidTo({ turns }: Trajectory): readonly string[] {
  const heard = turns.at(-1)?.prompt.slice(turns[0]?.prompt.length ?? 0) ?? [];
  return heard.flatMap(({ role, content }) => (role === "assistant" ? [] : [content]));
}
