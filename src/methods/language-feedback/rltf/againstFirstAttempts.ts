import { type ChannelOptions, moments, scoredUnits, spread } from "../../../advantage/returns.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/**
 * Advantages of retries that are trained without their advice in context: their return minus the mean return of the first
 * attempts at the same task.
 *
 *     A[i] = R(y′[i]) − mean_j R(y[j])          j over the group of the attempt that y′[i] retries
 *
 * A retry thus keeps its gradient where advice makes every retry right and the group of retries has no spread. Only units
 * of such rewritten retries are changed; the advantages of earlier estimators are replaced there. A group of one compares
 * a retry with its own first attempt; retries of attempts without a return are left out. Channels must not include the
 * credit that first attempts get for their retries.
 * Stats: gain, the mean of A.
 * Paper: "Expanding the Capabilities of Reinforcement Learning via Text Feedback".
 */
export function againstFirstAttempts(options: ChannelOptions = {}): Advantage<null> {
  return {
    name: "againstFirstAttempts",
    init: () => null,
    apply: (annotated, _state, soFar) => {
      const parents = new Map(
        annotated.trajectories.flatMap(({ id, lineage }) =>
          lineage?.why === "rewrite" ? [[id, lineage.parent]] : [],
        ),
      );
      const retryOf = (members: readonly Id[]): Id | undefined =>
        members.flatMap((id) => parents.get(id) ?? [])[0];
      const scored = scoredUnits(annotated, options);
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
      return { advantages: spread(annotated, values, others), next: null, stats };
    },
  };
}
