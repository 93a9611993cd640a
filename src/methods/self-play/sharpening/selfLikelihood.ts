import { batchOf } from "../../../common/tokens/pack.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import { actionTokens, type Id } from "../../../core/types.ts";
import { type MultiTurnOptions, multiTurn } from "../../../rollout/multiTurn.ts";

/** The frozen first policy, which samples and judges. */
export const base = "reference";

/** Attempts of the frozen first policy, in every role. */
export const baseSampled =
  (options: MultiTurnOptions = {}): Rollout =>
  (ctx) =>
    multiTurn({ ...options, models: Object.fromEntries(ctx.roles.map((role) => [role, base])) })(ctx);

/**
 * How likely the frozen first policy finds an attempt, as its reward: no verifier, and no further model.
 *
 *     r(x, y) = ln π_base(y | x) = Σ_t ln π_base(y_t | x, y_<t)          over the action tokens, at temperature 1
 *
 * The sum is not divided by the length, which would change the answer that is likeliest. One signal per trajectory with tokens.
 * Paper: "Self-Improvement in Language Models: The Sharpening Mechanism".
 */
export function selfLikelihood(): Feedback {
  return async (ctx, { trajectories }) => {
    const scored = trajectories.filter((t) => t.end.kind !== "failed" && actionTokens(t) > 0);
    const units = scored.map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
    const { batch } = batchOf(
      scored,
      units,
      new Map(scored.map((t) => [t.id, new Float32Array(actionTokens(t))])),
    );
    if (batch.rows.length === 0) return [];
    const { logp } = await ctx.frozen(base).score(batch);
    const sums = new Map<Id, number>();
    batch.rows.forEach(({ trajectory }, r) => {
      const own = logp.subarray(batch.targetOffset[r], batch.targetOffset[r + 1]);
      sums.set(
        trajectory,
        own.reduce((a, b) => a + b, sums.get(trajectory) ?? 0),
      );
    });
    return [...sums].map(
      ([trajectory, value]): Signal => ({
        kind: "reward",
        channel: "outcome",
        about: [{ trajectory }],
        value,
        source: base,
      }),
    );
  };
}
