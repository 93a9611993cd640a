import type { Loss } from "../../../core/model.ts";
import type { Update } from "../../../core/slots.ts";
import { designStateOf } from "./designedReward.ts";

/** The frozen copy of the policy's first weights. */
export const startName = "start";

/** Has a gradient of 0, since a model steps only where it has one. */
const nothing: Loss<null> = {
  name: "nothing",
  together: "row",
  wants: () => ({}),
  evaluate: ({ logp }) => ({ loss: 0, cotangents: { logp: new Float32Array(logp.length) }, stats: {} }),
};

/**
 * The update, except at the end of a round of {@link designedReward}: then the policy gets the weights of the frozen copy `start`, so that versions of
 * a reward are compared from the same beginning. Moments of an optimiser stay as they are. An iteration without rows cannot restart.
 * Paper: "Auto MC-Reward: Automated Dense Reward Design with Large Language Models for Minecraft".
 */
export const fromStart =
  (each: Update): Update =>
  async (ctx, batch, objectives, annotated) => {
    if (designStateOf(ctx)?.restart !== ctx.clock.iteration || batch.rows.length === 0)
      return each(ctx, batch, objectives, annotated);
    const policy = ctx.model();
    await policy.accumulate(batch, nothing, null);
    const pull = { toward: ctx.frozen(startName), strength: 1 };
    await policy.step({ optimiser: "sgd", learningRate: 1, pull });
    return { steps: 1, restarted: 1 };
  };
