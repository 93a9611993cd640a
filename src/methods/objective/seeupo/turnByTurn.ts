import { type Batch, rowCount } from "../../../core/batch.ts";
import type { Update } from "../../../core/slots.ts";
import type { Id, Stats } from "../../../core/types.ts";

/** Settings of {@link turnByTurn}. */
export interface TurnByTurnOptions {
  /** The update for a single turn. */
  readonly each: Update;
  /** Order of the turns: from the last, or from the first. Default "backward". */
  readonly order?: "backward" | "forward";
  /**
   * Correction for already updated turns: the product of their ratios of new to old probability, clamped to 1 ± `bound`
   * at each turn (Infinity: unclamped), or none. Default { bound: Infinity }.
   */
  readonly correction?: { readonly bound: number } | "none";
}

/**
 * Updates a batch turn by turn, as if each turn were an agent in a team: when a turn is updated, earlier ones in the order
 * have already changed, and every trajectory is weighted by its probability ratio under the new team.
 *
 *     m[i] = 1
 *     for each turn t in the order:
 *       old   = log-probabilities of the current model
 *       update on turn t only, with the advantage m[i] · A
 *       s[i]  = exp(mean over the tokens of turn t of (logp − old)), within 1 ± bound
 *       m[i] ← m[i] · s[i], within 1 ± bound
 *
 * Backward, a turn is updated against the already updated later turns: backward induction. With one token per turn and no
 * bound, m is the exact importance weight. A trajectory without the turn keeps its m. If turns share no parameters and
 * there is no correction, the order has no effect.
 *
 * @returns the sum of `steps`, and of everything else the mean over turns.
 * Paper: "SeeUPO: Sequence-Level Agentic-RL with Convergence Guarantees".
 */
export function turnByTurn({ each, order = "backward", correction }: TurnByTurnOptions): Update {
  const { bound } =
    correction === "none" ? { bound: 0 } : (correction ?? { bound: Number.POSITIVE_INFINITY });
  return async (ctx, batch, objectives, annotated) => {
    const forward = [...new Set(batch.turn_A)].sort((a, b) => a - b);
    const turns = order === "forward" ? forward : forward.toReversed();
    const running = new Map<Id, number>();
    const model = ctx.model(batch.rows[0]?.model);
    const sums: Stats = {};
    for (const turn of turns) {
      const { logp: old } = await model.score(batch);
      const now = { ...withWeights(onlyTurn(batch, turn), running), behaviour_A: old };
      for (const [name, value] of Object.entries(await each(ctx, now, objectives, annotated))) {
        sums[name] = (sums[name] ?? 0) + (name === "steps" ? value : value / turns.length);
      }
      const { logp } = await model.score(batch);
      for (const [id, ratio] of ratios(now, old, logp)) {
        const held = within(ratio, bound);
        running.set(id, within((running.get(id) ?? 1) * held, bound));
      }
    }
    return turns.length === 0 ? { steps: 0 } : sums;
  };
}

/** Tokens of other turns lose their weight. */
function onlyTurn(batch: Batch, turn: number): Batch {
  return { ...batch, weight_A: batch.weight_A.map((w, a) => (batch.turn_A[a] === turn ? w : 0)) };
}

/** Advantages times their trajectory's weight. */
function withWeights(batch: Batch, running: ReadonlyMap<Id, number>): Batch {
  const advantage_A = batch.advantage_A.slice();
  for (let r = 0; r < rowCount(batch); r++) {
    const weight = running.get(batch.rows[r]!.trajectory) ?? 1;
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) advantage_A[a]! *= weight;
  }
  return { ...batch, advantage_A };
}

/** Geometric mean of each trajectory's probability ratios over its weighted tokens. */
function ratios(batch: Batch, old: Float32Array, now: Float32Array): Map<Id, number> {
  const sums = new Map<Id, { sum: number; n: number }>();
  for (let r = 0; r < rowCount(batch); r++) {
    const id = batch.rows[r]!.trajectory;
    const own = sums.get(id) ?? { sum: 0, n: 0 };
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) {
      if (batch.weight_A[a] === 0) continue;
      own.sum += now[a]! - old[a]!;
      own.n++;
    }
    if (own.n > 0) sums.set(id, own);
  }
  return new Map([...sums].map(([id, { sum, n }]) => [id, Math.exp(sum / n)]));
}

const within = (x: number, bound: number): number => Math.min(Math.max(x, 1 - bound), 1 + bound);
