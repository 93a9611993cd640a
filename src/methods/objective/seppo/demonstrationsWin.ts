import { mapById } from "../../../common/mapById.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";

/**
 * Prefers demonstrations to samples, whatever their rewards: in each group the first demonstration to the first sample,
 * the second to the second, and so on; the shorter list is repeated until the longer one ends, so that one demonstration
 * may be paired with several samples. A group that lacks either kind gives no signal.
 */
export function demonstrationsWin(channel = "preference"): Feedback {
  return async (_ctx, { trajectories, units }) => {
    const byId = mapById(trajectories);
    const groups = Map.groupBy(units, (u) => u.group);
    return [...groups.values()].flatMap((group): Signal[] => {
      const members = group.flatMap((u) => u.members.flatMap((id) => byId.get(id) ?? []));
      const shown = members.filter((t) => t.origin === "demonstrated");
      const sampled = members.filter((t) => t.origin === "sampled");
      if (shown.length === 0 || sampled.length === 0) return [];
      return Array.from({ length: Math.max(shown.length, sampled.length) }, (_, i) => ({
        kind: "preference",
        channel,
        about: [{ trajectory: shown[i % shown.length]!.id }, { trajectory: sampled[i % sampled.length]!.id }],
        best: 0,
        source: "demonstrations",
      }));
    });
  };
}
