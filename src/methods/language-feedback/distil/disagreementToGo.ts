import { onTop } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { divergenceAt } from "../../../common/statistics/divergence.ts";
import { type Hindsight, hindsightColumns, hindsightOf } from "../../../common/tokens/hindsight.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link disagreementToGo}. */
export interface DisagreementToGoOptions {
  /** Name of the teacher's notes. Default "teacher". */
  readonly teacher?: string;
  /** Discount γ per token, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** λ, the term's weight. Default 1. */
  readonly weight?: number;
}

/**
 * An advantage from the student's later divergence from its teacher, relative to the group's mean. It is the term of the
 * gradient of a summed divergence over on-policy rollouts that avoids states of large divergence.
 *
 *     h[a] = KL(q ‖ p) at token a,   C[a] = Σ_{j > a} discount^(j − a − 1) · h[j]        0 at the last token
 *     A[a] = −λ (C[a] − mean of C at the same token of the group)
 *
 * It uses the KL divergence instead of the cross-entropy, because the teacher's entropy would favour short rollouts. The
 * baseline does not change the expected gradient, except for the rollout's own share in it. A group of one gets zeros;
 * beyond the end of a group's shorter rollouts, the longer ones are compared with each other. The teacher's columns are
 * passed on for a token-level objective. A trajectory without a teacher is left out. Stats: `disagreement`, the mean h.
 *
 * Paper: "Reinforcement Learning from Rich Feedback with Distributional DAgger".
 */
export function disagreementToGo(options: DisagreementToGoOptions = {}): Advantage<null> {
  const { teacher = "teacher", discount = 1, weight = 1 } = options;
  return {
    name: "disagreementToGo",
    init: () => null,
    apply: ({ trajectories, units, notes }, _state, soFar) => {
      const byId = mapById(trajectories);
      const said = new Map<Id, Hindsight>();
      const advantages = new Map<Id, Float32Array>();
      let [sum, tokens] = [0, 0];
      for (const group of Map.groupBy(units, (u) => u.group).values()) {
        const costs = new Map<Id, Float64Array>();
        for (const id of group.flatMap((u) => u.members)) {
          const t = byId.get(id);
          const own = t && hindsightOf(notes, teacher, t);
          if (!own) continue;
          said.set(id, own);
          const h_A = disagreements(own);
          costs.set(id, toGo(h_A, discount));
          sum += h_A.reduce((s, h) => s + h, 0);
          tokens += h_A.length;
        }
        for (const [id, cost_A] of costs) {
          const others = (a: number): number[] => [...costs.values()].flatMap((c) => c[a] ?? []);
          const own = Float32Array.from(cost_A, (cost, a) => -weight * (cost - average(others(a))));
          advantages.set(id, own);
        }
      }
      return {
        advantages: onTop(advantages, soFar),
        next: null,
        stats: tokens > 0 ? { disagreement: sum / tokens } : {},
        columns: hindsightColumns(teacher, said),
      };
    },
  };
}

/** KL(q ‖ p) at each token, [A]. */
function disagreements({ k, written_A, student_AK, teacher_AK }: Hindsight): Float64Array {
  return Float64Array.from(written_A, (_, a) => {
    const at = (xs: Float32Array): Float32Array => xs.subarray(a * k, (a + 1) * k);
    return divergenceAt("forward", at(student_AK), at(teacher_AK)).value;
  });
}

/** Σ_{j > a} discount^(j − a − 1) h[j], [A]. */
function toGo(h_A: Float64Array, discount: number): Float64Array {
  const cost_A = new Float64Array(h_A.length);
  for (let a = h_A.length - 2; a >= 0; a--) cost_A[a] = h_A[a + 1]! + discount * cost_A[a + 1]!;
  return cost_A;
}

const average = (xs: readonly number[]): number => xs.reduce((s, x) => s + x / xs.length, 0);
