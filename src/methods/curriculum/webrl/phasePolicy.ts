/** The policy of the last phase, and the loss that is tied to it. */
import { creditsByTurn, onTop } from "../../../advantage/returns.ts";
import { overTurns, turnOffsets } from "../../../common/tokens/tokenRanges.ts";
import { type Batch, rowCount } from "../../../core/batch.ts";
import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";
import type { Advantage, Update } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Name of the frozen model of the last phase. */
export const previous = "previous";

const column = `${previous}.logp`;

/** An update after which, at the end of each phase, the frozen model becomes the policy as it is. */
export const refreshedEvery =
  (update: Update, phase: number): Update =>
  async (ctx, ...rest) => {
    const stats = await update(ctx, ...rest);
    if ((ctx.clock.iteration + 1) % phase === 0) await ctx.frozen(previous).blend(ctx.model(), 1);
    return stats;
  };

/**
 * The advantage of each turn, on its tokens:
 *
 *     A[t] = λ (r[t] + V(s[t+1]) − V(s[t])) + (1 − λ) (R − V(s[t]))        V after the last turn is 0, R: sum of the rewards
 *
 * V is the note "value" at a turn's first token. Column "return": the critic's target R at these tokens, NaN at others. A
 * trajectory without credit is left out. Needs credits per turn.
 * Paper: "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning".
 */
export const mixedAdvantage = (mix: number): Advantage<null> => ({
  name: "mixedAdvantage",
  init: () => null,
  apply: (annotated, _state, soFar) => {
    const paid = creditsByTurn(annotated, {});
    const advantages = new Map<Id, Float32Array>();
    const targets = new Map<Id, Float32Array>();
    for (const t of annotated.trajectories) {
      const rewards = paid.get(t.id);
      if (!rewards || t.turns.length === 0) continue;
      const value_A = present(annotated.notes.value?.get(t.id), "mixedAdvantage", `note "value" of ${t.id}`);
      const starts = turnOffsets(t);
      const valueAt = (k: number): number => (k < t.turns.length ? (value_A[starts[k]!] ?? 0) : 0);
      const whole = rewards.reduce((a, b) => a + b, 0);
      const perTurn = t.turns.map(
        (_, k) => mix * (rewards[k]! + valueAt(k + 1) - valueAt(k)) + (1 - mix) * (whole - valueAt(k)),
      );
      advantages.set(t.id, overTurns(t, perTurn));
      const target_A = new Float32Array(starts.at(-1)!).fill(Number.NaN);
      for (let k = 0; k < t.turns.length; k++) if (starts[k]! < starts[k + 1]!) target_A[starts[k]!] = whole;
      targets.set(t.id, target_A);
    }
    return { advantages: onTop(advantages, soFar), next: null, stats: {}, columns: { return: targets } };
  },
});

/** A turn of a batch: its targets of weight above 0, and the means of their weights and advantages. */
interface TurnIn {
  readonly targets: readonly number[];
  readonly weight: number;
  readonly advantage: number;
}

function turnsOf(batch: Batch): TurnIn[] {
  const found: TurnIn[] = [];
  for (let r = 0; r < rowCount(batch); r++) {
    const turns = new Map<number, number[]>();
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      if (batch.weight_A[a] === 0) continue;
      const targets = turns.get(batch.turn_A[a]!) ?? [];
      turns.set(batch.turn_A[a]!, [...targets, a]);
    }
    for (const targets of turns.values()) {
      const meanOf = (xs: Float32Array): number =>
        targets.reduce((sum, a) => sum + xs[a]!, 0) / targets.length;
      found.push({ targets, weight: meanOf(batch.weight_A), advantage: meanOf(batch.advantage_A) });
    }
  }
  return found;
}

/**
 * Squared difference between a scaled log-ratio and the advantage, one term per action:
 *
 *     loss = mean over turns of (β Σ_tokens (logp − logp_previous) − A)²
 *
 * Its step is along (A − β ratio) ∇ ln π: it turns back once the log-ratio exceeds A/β, also for good actions. The sampling
 * policy plays no part, so old attempts can be used as they are. Weights and advantages of a turn are the means of its tokens'.
 * Stats, as sums: turns, ratio (the log-ratio).
 * Paper: "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning".
 */
export function squaredLogRatio(beta: number): Objective<number> {
  return {
    name: "squaredLogRatio",
    together: "row",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [column]: (await ctx.frozen(previous).score(batch)).logp }),
    prepare: async (_ctx, batch) => turnsOf(batch).reduce((sum, { weight }) => sum + weight, 0),
    evaluate: ({ logp }, batch, total) => {
      const previous_A = present(batch.columns[column], "squaredLogRatio", `column ${column}`);
      const cotangent_A = new Float32Array(logp.length);
      let [loss, ratios] = [0, 0];
      const turns = turnsOf(batch);
      for (const { targets, weight, advantage } of turns) {
        const ratio = targets.reduce((sum, a) => sum + logp[a]! - previous_A[a]!, 0);
        const gap = beta * ratio - advantage;
        for (const a of targets) cotangent_A[a] = (2 * beta * gap * weight) / total;
        loss += (gap ** 2 * weight) / total;
        ratios += ratio;
      }
      return {
        loss,
        cotangents: { logp: cotangent_A },
        stats: { loss, turns: turns.length, "ratio/turns": ratios },
      };
    },
  };
}
