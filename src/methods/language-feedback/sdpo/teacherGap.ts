import { onTop } from "../../../advantage/returns.ts";
import { type Hindsight, hindsightColumns, hindsightOf } from "../../../common/tokens/hindsight.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/** Settings of {@link teacherGap}. */
export interface TeacherGapOptions {
  /** Name of the teacher's notes. Default "teacher". */
  readonly teacher?: string;
  /** Factor on the result: this estimator's weight in a list of several. Default 1. */
  readonly weight?: number;
}

/**
 * Log-ratio of the teacher's to the student's probability of each sampled token:
 *
 *     A[a] = ln q(y[a]) − ln p(y[a])        p: as sampled
 *
 * With a policy gradient this is the sampled form of the reverse divergence, Σ_a KL(p ‖ q), and in expectation has its
 * gradient as long as the teacher's privileged context does not depend on the sampled tokens; otherwise the two are
 * different estimators. The teacher's columns are passed on for objectives that use its whole distribution.
 *
 * A trajectory without a teacher is left out. Stats: `taught`, the share of trajectories with one.
 * Paper: "Reinforcement Learning via Self-Distillation".
 */
export function teacherGap({ teacher = "teacher", weight = 1 }: TeacherGapOptions = {}): Advantage<null> {
  return {
    name: "teacherGap",
    init: () => null,
    apply: ({ trajectories, notes }, _state, soFar) => {
      const advantages = new Map<Id, Float32Array>();
      const said = new Map<Id, Hindsight>();
      for (const t of trajectories) {
        const own = hindsightOf(notes, teacher, t);
        if (!own) continue;
        said.set(t.id, own);
        const logp = t.turns.flatMap(({ tokens }) => (tokens ? [...tokens.logp] : []));
        advantages.set(
          t.id,
          own.written_A.map((q, a) => weight * (q - logp[a]!)),
        );
      }
      return {
        advantages: onTop(advantages, soFar),
        next: null,
        stats: trajectories.length > 0 ? { taught: said.size / trajectories.length } : {},
        columns: hindsightColumns(teacher, said),
      };
    },
  };
}
