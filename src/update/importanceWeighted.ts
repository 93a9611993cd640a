import { selectTokens } from "../common/tokens/pack.ts";
import type { Batch } from "../core/batch.ts";
import type { Ctx } from "../core/context.ts";
import type { Update } from "../core/slots.ts";

/** Settings of {@link importanceWeighted}. */
export interface ImportanceWeightedOptions {
  /** Largest weight of a token, ≥ 1. Default 2. */
  readonly cap?: number;
}

/**
 * Off-policy correction for samples of an older policy: before the first step the policy scores them, and each token's advantage is
 * multiplied by its truncated importance weight.
 *
 *     w[a] = min(exp(proximal[a] − behaviour[a]), cap)        A[a] ← w[a] · A[a]        behaviour[a] ← proximal[a]
 *
 * `proximal` is the policy at the start of the update. Objectives with ratios thus keep the new policy near this one and not
 * near the older sampling policy (the decoupled objective). Tokens without a behaviour log-probability (demonstrations,
 * rewritten rows) keep their advantage.
 *
 * Stats: importance, the mean weight; importance.truncated, the share of tokens at the cap; importance.kl, the mean of
 * exp(d) − 1 − d with d = proximal − behaviour: the KL estimate between the policy and the one that sampled, in nats.
 * Papers: "AReaL: A Large-Scale Asynchronous Reinforcement Learning System for Language Reasoning"; truncation: "Truncated
 * Importance Sampling" (Ionides).
 */
export function importanceWeighted(update: Update, { cap = 2 }: ImportanceWeightedOptions = {}): Update {
  return async (ctx, batch, objectives, annotated) => {
    const proximal_A = await proximalLogp(ctx, batch);
    const advantage_A = batch.advantage_A.slice();
    const behaviour_A = batch.behaviour_A.slice();
    let [tokens, weights, truncated, kl] = [0, 0, 0, 0];
    for (let a = 0; a < advantage_A.length; a++) {
      const difference = proximal_A[a]! - behaviour_A[a]!;
      if (Number.isNaN(difference)) continue;
      const ratio = Math.exp(difference);
      const weight = Math.min(ratio, cap);
      advantage_A[a]! *= weight;
      behaviour_A[a] = proximal_A[a]!;
      tokens++;
      weights += weight;
      kl += ratio - 1 - difference;
      if (ratio > cap) truncated++;
    }
    const learnt = await update(ctx, { ...batch, advantage_A, behaviour_A }, objectives, annotated);
    if (tokens === 0) return learnt;
    const measured = {
      importance: weights / tokens,
      "importance.truncated": truncated / tokens,
      "importance.kl": kl / tokens,
    };
    return { ...learnt, ...measured };
  };
}

/** Log-probability of every target under the current weights of the model that acted, [A]; NaN where the behaviour is unknown, since no weight can be computed there. */
async function proximalLogp(ctx: Ctx, batch: Batch): Promise<Float32Array> {
  const out_A = new Float32Array(batch.target_A.length).fill(Number.NaN);
  const known = [...batch.rows.keys()].filter((r) =>
    batch.behaviour_A
      .subarray(batch.targetOffset[r]!, batch.targetOffset[r + 1]!)
      .some((x) => !Number.isNaN(x)),
  );
  for (const [model, rows] of Map.groupBy(known, (r) => batch.rows[r]!.model)) {
    const { logp } = await ctx.model(model).score(selectTokens(batch, rows));
    let from = 0;
    for (const r of rows) {
      const to = from + batch.targetOffset[r + 1]! - batch.targetOffset[r]!;
      out_A.set(logp.subarray(from, to), batch.targetOffset[r]!);
      from = to;
    }
  }
  return out_A;
}
