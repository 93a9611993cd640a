import { givesAway } from "../../../common/text/leaksAnswer.ts";
import type { Critic } from "../../../core/critic.ts";
import { actionTokens } from "../../../core/types.ts";

/**
 * A critic whose critiques may guide but not give the task's reference answer away: one that does is dropped, and counted
 * under judge.failures, what a model of the run wrote of it under tokens.discarded. Tasks without a reference have nothing
 * to give away.
 */
export function discreet(critic: Critic): Critic {
  return async (ctx, trajectory, random) => {
    const critique = await critic(ctx, trajectory, random);
    if (!critique || !givesAway(critique.text, ctx.task(trajectory.task).reference)) return critique;
    ctx.count("judge.failures", 1);
    if (critique.written) ctx.count("tokens.discarded", actionTokens(critique.written));
    return undefined;
  };
}
