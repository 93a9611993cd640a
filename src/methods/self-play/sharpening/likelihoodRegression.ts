import { type Batch, rowCount } from "../../../core/batch.ts";
import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";
import { base } from "./selfLikelihood.ts";

const column = `${base}.logp`;

/** Units of a batch that are compared: the first of a group with the second, the third with the fourth… A leftover is not. */
function pairsOf(batch: Batch): (readonly [first: number[], second: number[]])[] {
  const targets = new Map<string, number[]>();
  const groups = new Map<string, Set<string>>();
  for (let r = 0; r < rowCount(batch); r++) {
    const { unit, group } = batch.rows[r]!;
    const own = targets.get(unit) ?? [];
    for (let a = batch.targetOffset[r]!; a < batch.targetOffset[r + 1]!; a++) own.push(a);
    targets.set(unit, own);
    groups.set(group, (groups.get(group) ?? new Set()).add(unit));
  }
  return [...groups.values()].flatMap((units) => {
    const own = [...units].map((unit) => targets.get(unit)!);
    return own.flatMap((first, i) => (i % 2 === 0 && own[i + 1] ? [[first, own[i + 1]!] as const] : []));
  });
}

/**
 * Sharpening by regression on pairs: the policy's log-ratio to the frozen first one is fitted to the difference of the self-rewards.
 *
 *     ( β (ln π/π_base(y) − ln π/π_base(y′)) − (ln π_base(y) − ln π_base(y′)) )² / β²        mean over pairs
 *       = ( Δ ln π − (1 + 1/β) Δ ln π_base )²
 *
 * The minimum is π ∝ π_base^(1 + 1/β), the policy of highest self-reward with penalty β KL(π ‖ π_base). Without the division by β² the
 * curvature in ln π would be β², and a small β would look like no learning. Trains the policy on samples of the first one.
 * Stats, as sums: pairs, error (nats, without sign). Paper: "Self-Improvement in Language Models: The Sharpening Mechanism".
 */
export function likelihoodRegression(beta: number): Objective<{ readonly pairs: number }> {
  return {
    name: "likelihoodRegression",
    model: "policy",
    together: "group",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [column]: (await ctx.frozen(base).score(batch)).logp }),
    prepare: async (_ctx, batch) => ({ pairs: pairsOf(batch).length }),
    evaluate: ({ logp }, batch, { pairs }) => {
      const base_A = present(batch.columns[column], "likelihoodRegression", `column ${column}`);
      const cotangent_A = new Float32Array(logp.length);
      const sum = (of: ArrayLike<number>, side: readonly number[]): number =>
        side.reduce((total, a) => total + batch.weight_A[a]! * of[a]!, 0);
      const stats = { loss: 0, pairs: 0, "error/pairs": 0 };
      for (const [first, second] of pairsOf(batch)) {
        const wanted = (1 + 1 / beta) * (sum(base_A, first) - sum(base_A, second));
        const error = sum(logp, first) - sum(logp, second) - wanted;
        for (const a of first) cotangent_A[a]! += (2 * error * batch.weight_A[a]!) / pairs;
        for (const a of second) cotangent_A[a]! -= (2 * error * batch.weight_A[a]!) / pairs;
        stats.loss += error ** 2 / pairs;
        stats.pairs++;
        stats["error/pairs"] += Math.abs(error);
      }
      return { loss: stats.loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}
