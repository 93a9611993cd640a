import { pairRows } from "../../../common/tokens/pack.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { ModelId } from "../../../core/types.ts";

/** Settings of {@link implicitRewards}. */
export interface ImplicitRewardsOptions {
  /** Name of the reward model: a language model trained so that its log-ratio ranks trajectories. Default "prm". */
  readonly model?: ModelId;
  /** β > 0, the reward's size per nat. Default 0.05. */
  readonly beta?: number;
  /** Default "implicit". */
  readonly channel?: string;
}

/**
 * The implicit reward of each turn under a language model's current weights:
 *
 *     r[t] = β · Σ_a (ln p_model(a) − ln p_sampler(a))       over the action tokens of turn t, at temperature 1
 *
 * Observations do not count. Two equal models give zeros. One signal per turn; turns without tokens or without a known
 * log-probability of the sampler, and failed episodes, get none.
 * Papers: "Online Process Reward Leanring for Agentic Reinforcement Learning"; "Free Process Rewards without Process
 * Labels".
 */
export function implicitRewards(options: ImplicitRewardsOptions = {}): Feedback {
  const { model = "prm", beta = 0.05, channel = "implicit" } = options;
  return async (ctx, { trajectories }) => {
    const turns = trajectories
      .filter((t) => t.end.kind !== "failed")
      .flatMap((t) =>
        t.turns.flatMap(({ tokens }, turn) =>
          tokens && tokens.action.length > 0 ? [{ about: { trajectory: t.id, turn }, tokens }] : [],
        ),
      );
    if (turns.length === 0) return [];
    const rows = pairRows(turns.map(({ tokens }) => ({ prompt: tokens.prompt, target: tokens.action })));
    const { logp } = await ctx.model(model).score(rows);
    return turns.flatMap(({ about, tokens }, r): Signal[] => {
      const from = rows.targetOffset[r]!;
      const value = beta * tokens.logp.reduce((sum, sampled, a) => sum + logp[from + a]! - sampled, 0);
      if (Number.isNaN(value)) return [];
      return [{ kind: "reward", channel, about: [about], value, source: `model:${model}` }];
    });
  };
}
