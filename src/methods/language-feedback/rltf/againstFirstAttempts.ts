import { type ChannelOptions, moments, scoredUnits, spread } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/**
 * Retries that are learnt from as if nobody had advised them, against what the bare policy earned: their return less the
 * mean return of the first attempts at the same task.
 *
 *     A[i] = R(y′[i]) − mean_j R(y[j])          j over the group of the attempt that y′[i] retries
 *
 * So a retry still teaches where advice makes every retry right: the group of the retries themselves has nothing to
 * compare then. Only units whose trajectory is such a rewritten retry are touched, and what estimators before it made of
 * them is replaced. A group of one compares a retry with its own first attempt; retries of attempts without a return are
 * left out. Channels must not hold what a first attempt was credited for its retries.
 * Stats: gain, the mean of A.
 * Paper: "Expanding the Capabilities of Reinforcement Learning via Text Feedback".
 */
export function againstFirstAttempts(options: ChannelOptions = {}): Advantage<null> {
  return {
    name: "againstFirstAttempts",
    init: () => null,
    apply: (evidence, _state, soFar) => {
      const parents = new Map(
        evidence.trajectories.flatMap(({ id, lineage }) =>
          lineage?.why === "rewrite" ? [[id, lineage.parent]] : [],
        ),
      );
      const retryOf = (members: readonly Id[]): Id | undefined =>
        members.flatMap((id) => parents.get(id) ?? [])[0];
      const scored = scoredUnits(evidence, options);
      const first = scored.filter(({ unit }) => retryOf(unit.members) === undefined);
      const groupOf = new Map(first.flatMap(({ unit }) => unit.members.map((id) => [id, unit.group])));
      const baselines = new Map(
        [...Map.groupBy(first, ({ unit }) => unit.group)].map(([group, own]) => [
          group,
          moments(own.map(({ value }) => value)).mean,
        ]),
      );
      const values = new Map<Id, number>();
      for (const { unit, value } of scored) {
        const baseline = baselines.get(groupOf.get(retryOf(unit.members) ?? "") ?? "");
        if (baseline !== undefined) values.set(unit.id, value - baseline);
      }
      const others = new Map([...(soFar ?? [])].filter(([id]) => !parents.has(id)));
      const stats = values.size > 0 ? { gain: moments([...values.values()]).mean } : {};
      return { advantages: spread(evidence, values, others), next: null, stats };
    },
  };
}
