import { overAll } from "../../src/common/tokens/tokenRanges.ts";
import type { Advantage } from "../../src/core/slots.ts";

export const roleConditioned: Advantage<Readonly<Record<string, number>>> = {
  name: "roleConditioned",
  init: () => ({}),
  apply: ({ trajectories, channels }, state) => {
    const next = { ...state };
    const advantages = new Map<string, Float32Array>();
    for (const t of trajectories) {
      const reward = channels.outcome?.find((c) => c.at.trajectory === t.id)?.value;
      if (reward === undefined) continue;
      const baseline = next[t.role] ?? 0;
      advantages.set(t.id, overAll(t, reward - baseline));
      next[t.role] = 0.95 * baseline + 0.05 * reward;
    }
    return { advantages, next, stats: {} };
  },
};
