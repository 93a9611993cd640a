import { pairsOf } from "../../../common/tokens/pairs.ts";
import type { Batch } from "../../../core/batch.ts";
import { present } from "../../../core/errors.ts";
import type { Objective } from "../../../core/objective.ts";
import type { Id, ModelId } from "../../../core/types.ts";
import { rowOfTarget } from "../../../objective/normaliser.ts";
import { revisionId } from "./revisions.ts";

/** Settings of {@link selfImproving}. */
export interface SelfImprovingOptions {
  /** β, weight of the KL regularisation towards the reference, > 0. Default 0.1. */
  readonly beta?: number;
  /** α, share of the improver's own loss, in [0, 1]. Default 0.5. */
  readonly improver?: number;
  /** Name of the frozen model to compare with. Default "reference". */
  readonly to?: string;
  /** The model that learns. Default: the one that acted. */
  readonly model?: ModelId;
}

interface Aux {
  /** Pairs of the whole batch. */
  readonly pairs: number;
}

/** The targets of a pair's six sequences, and their signs in the three residuals. */
interface Sequences {
  /** Replies to the prompt: w and l. */
  readonly generated: readonly [w: readonly number[], l: readonly number[]];
  /** Revisions, [reply][draft]. */
  readonly revised: readonly (readonly (readonly number[])[])[];
}

/**
 * Trains the generator and the improver together, from pairs. With the log-ratios to the reference
 * B(y) = Σ ln π(y|x)/ref(y|x) of a reply and A(y|d) = Σ ln π(y|d, x)/ref(y|d, x) of the same reply as a revision of d,
 *
 *     e₁ = β (A(w|l) − A(l|w) + B(w) − B(l)) − 1
 *     e₂ = β (A(w|l) − A(l|l)) − 1/2,     e₃ = β (A(l|w) − A(w|w)) + 1/2
 *     loss = mean over pairs of (1 − α) e₁² + α (e₂² + e₃²)
 *
 * and for a label of strength p, p times that plus (1 − p) times that with w and l swapped. Sums over tokens. The
 * minimum does not depend on which replies were compared, as long as all of them are. Pairs come from the columns of
 * `common/tokens/pairs.ts`, revisions from rows named by `revisions.ts`; a pair without its revisions is left out and counted.
 *
 * Stats, as sums: pairs, accuracy (B(w) > B(l)), missing (pairs).
 * Paper: "Self-Improving Robust Preference Optimization".
 */
export function selfImproving(options: SelfImprovingOptions = {}): Objective<Aux> {
  const { beta = 0.1, improver: alpha = 0.5, to = "reference", model } = options;
  const column = `${to}.logp`;
  return {
    name: "selfImproving",
    ...(model === undefined ? {} : { model }),
    together: "group",
    wants: () => ({}),
    columns: async (ctx, batch) => ({ [column]: (await ctx.frozen(to).score(batch)).logp }),
    prepare: async (_ctx, batch) => ({ pairs: pairsOf(batch).length }),
    evaluate: ({ logp }, batch, { pairs }) => {
      const reference_A = present(batch.columns[column], "selfImproving", `column ${column}`);
      const cotangent_A = new Float32Array(logp.length);
      const ratio = (targets: readonly number[]): number =>
        targets.reduce((sum, a) => sum + batch.weight_A[a]! * (logp[a]! - reference_A[a]!), 0);
      const stats = { loss: 0, pairs: 0, "accuracy/pairs": 0, missing: 0 };
      /** weight · (β Σ ± ratios − goal)², and its gradient on every target. */
      const residual = (
        weight: number,
        plus: readonly (readonly number[])[],
        minus: readonly (readonly number[])[],
        goal: number,
      ): void => {
        const total = (sides: typeof plus): number => sides.reduce((sum, side) => sum + ratio(side), 0);
        const e = beta * (total(plus) - total(minus)) - goal;
        const slope = (2 * weight * beta * e) / pairs;
        stats.loss += (weight * e * e) / pairs;
        for (const a of plus.flat()) cotangent_A[a]! += slope * batch.weight_A[a]!;
        for (const a of minus.flat()) cotangent_A[a]! -= slope * batch.weight_A[a]!;
      };
      const find = finder(batch);
      for (const pair of pairsOf(batch)) {
        const found = find(pair.chosen, pair.rejected);
        if (!found) {
          stats.missing++;
          continue;
        }
        const { generated, revised } = found;
        for (const [w, l, p] of [
          [0, 1, pair.strength],
          [1, 0, 1 - pair.strength],
        ] as const) {
          if (p === 0) continue;
          const [wl, lw, ll, ww] = [revised[w]![l]!, revised[l]![w]!, revised[l]![l]!, revised[w]![w]!];
          residual(p * (1 - alpha), [wl, generated[w]], [lw, generated[l]], 1);
          residual(p * alpha, [wl], [ll], 1 / 2);
          residual(p * alpha, [lw], [ww], -1 / 2);
        }
        stats.pairs++;
        stats["accuracy/pairs"] += Number(ratio(generated[0]) > ratio(generated[1]));
      }
      return { loss: stats.loss, cotangents: { logp: cotangent_A }, stats };
    },
  };
}

/** Finds the sequences of a pair by the names of its trajectories. */
function finder(batch: Batch): (w: readonly number[], l: readonly number[]) => Sequences | undefined {
  const row_A = rowOfTarget(batch);
  const targets = new Map<Id, number[]>();
  row_A.forEach((r, a) => {
    if (batch.weight_A[a] === 0) return;
    const id = batch.rows[r]!.trajectory;
    const known = targets.get(id);
    if (known) known.push(a);
    else targets.set(id, [a]);
  });
  return (w, l) => {
    const ids = [w, l].map((side) => batch.rows[row_A[side[0]!]!]!.trajectory);
    const revised = ids.map((reply) => ids.map((draft) => targets.get(revisionId(reply, draft)) ?? []));
    return revised.flat().every((side) => side.length > 0) ? { generated: [w, l], revised } : undefined;
  };
}
