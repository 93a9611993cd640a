import { leaksAnswer } from "../../../common/text/leaksAnswer.ts";
import type { Critiquer } from "../../../core/critiquer.ts";
import { actionTokens } from "../../../core/types.ts";

/**
 * Wraps a critic and drops critiques that leak the task's reference answer. A dropped critique counts as judge.failures,
 * and its tokens, if a model of the run wrote it, as tokens.discarded. Tasks without a reference cannot leak.
 */
export function discreet(critic: Critiquer): Critiquer {
  return async (ctx, trajectory, random) => {
    const critique = await critic(ctx, trajectory, random);
    if (!critique || !leaksAnswer(critique.text, ctx.task(trajectory.task).reference)) return critique;
    ctx.count("judge.failures", 1);
    if (critique.written) ctx.count("tokens.discarded", actionTokens(critique.written));
    return undefined;
  };
}
