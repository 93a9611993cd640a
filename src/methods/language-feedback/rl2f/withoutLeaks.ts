import { leaksAnswer } from "../../../common/text/leaksAnswer.ts";
import type { Rollout } from "../../../core/slots.ts";
import { actionTokens, type Trajectory } from "../../../core/types.ts";

/**
 * Leaves out dialogues in which the policy was given the task's reference answer after its first action, because they
 * teach copying. The policy's own words and the task's prompt do not count.
 *
 * Their trajectories stay in the experience but not in the units; a unit is dropped if any of its members leaks. Tasks
 * without a reference cannot leak. Counts tokens.discarded. Stats: leaked, per trajectory of a unit.
 * Paper: "Improving Interactive In-Context Learning from Natural Language Feedback".
 */
export function withoutLeaks(rollout: Rollout): Rollout {
  return async (ctx) => {
    const all = await rollout(ctx);
    const members = new Set(all.units.flatMap((unit) => unit.members));
    const compared = all.trajectories.filter((t) => members.has(t.id));
    const leaky = compared.filter((t) => {
      const { reference } = ctx.task(t.task);
      return saidTo(t).some((text) => leaksAnswer(text, reference));
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

/** The messages to the policy after its first action. */
function saidTo({ turns }: Trajectory): readonly string[] {
  const heard = turns.at(-1)?.prompt.slice(turns[0]?.prompt.length ?? 0) ?? [];
  return heard.flatMap(({ role, content }) => (role === "assistant" ? [] : [content]));
}
