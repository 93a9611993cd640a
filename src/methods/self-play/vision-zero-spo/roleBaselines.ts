import { scoredUnits, spread } from "../../../advantage/returns.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id } from "../../../core/types.ts";

/**
 * A moving average of what each side is paid, in place of a group's mean:
 *
 *     A = r − b_side,   then   b_side ← a b_side + (1 − a) · mean of r over the batch          b: 0 at first
 *
 * The sides are channels; units of another channel get nothing. What a batch was paid does not enter its own baseline; the paper's code updates first, which scales A by
 * a. Nothing is divided by a deviation. Stats: `baseline.<channel>`.
 * Paper: "Vision-Zero: Scalable VLM Self-Improvement via Strategic Gamified Self-Play".
 */
export function roleBaselines(
  sides: readonly string[],
  keep: number,
): Advantage<Readonly<Record<string, number>>> {
  return {
    name: "roleBaselines",
    init: () => ({}),
    apply: (annotated, state, soFar) => {
      const values = new Map<Id, number>();
      const next = { ...state };
      for (const side of sides) {
        const scored = scoredUnits(annotated, { channels: [side] });
        if (scored.length === 0) continue;
        const before = state[side] ?? 0;
        for (const { unit, value } of scored) values.set(unit.id, value - before);
        next[side] = keep * before + (1 - keep) * mean(scored.map(({ value }) => value));
      }
      const stats = Object.fromEntries(Object.entries(next).map(([side, b]) => [`baseline.${side}`, b]));
      return { advantages: spread(annotated, values, soFar), next, stats };
    },
  };
}
