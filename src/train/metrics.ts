/** What is measured of an iteration, by name. */
import type { Experience } from "../core/slots.ts";
import { type Stats, succeeded } from "../core/types.ts";
import { average, rewardOf } from "./evaluate.ts";
import type { Iteration } from "./running.ts";
import type { RunState } from "./state.ts";

/** Shares of the groups in which every attempt succeeded, and in which none did. What is compared with nobody is no group. */
function groupShares({ units, trajectories }: Experience): Stats {
  const won = new Map(
    trajectories.flatMap((t) =>
      t.end.kind === "failed" || t.origin === "demonstrated" ? [] : [[t.id, succeeded(t)]],
    ),
  );
  const groups = [...Map.groupBy(units, ({ group }) => group).values()]
    .map((members) => members.flatMap((unit) => unit.members.flatMap((id) => won.get(id) ?? [])))
    .filter(({ length }) => length > 1);
  if (groups.length === 0) return {};
  return {
    solvedGroups: average(groups.map((attempts) => Number(attempts.every(Boolean)))),
    unsolvedGroups: average(groups.map((attempts) => Number(!attempts.some(Boolean)))),
  };
}

/** Every number of an iteration by name; what was not measured is absent. */
export function metricsOf({ experience, stats, seconds }: Iteration, state: RunState): Stats {
  // what somebody else showed is not what the policy can do
  const own = experience.trajectories.filter((t) => t.origin !== "demonstrated");
  const ended = own.filter((t) => t.end.kind !== "failed");
  const tokens = own.flatMap((t) => t.turns.flatMap((turn) => turn.tokens ?? []));
  const sampled = tokens.reduce((sum, { action }) => sum + action.length, 0);
  let [surprise, measured] = [0, 0];
  for (const { entropy = [] } of tokens) {
    for (const nats of entropy) surprise += nats;
    measured += entropy.length;
  }
  const out: Stats = {
    ...groupShares(experience),
    ...(ended.length > 0 && {
      reward: average(ended.map(rewardOf)),
      success: average(ended.map((t) => Number(succeeded(t)))),
      turns: average(ended.map((t) => t.turns.length)),
      truncated: average(ended.map((t) => Number(t.end.kind === "truncated"))),
    }),
    // of the policy at the tokens that it sampled, nats: where it falls to 0, nothing new is tried any more
    ...(measured > 0 && { entropy: surprise / measured }),
    failed: own.length - ended.length,
    tokensPerSecond: sampled / Math.max(1e-9, seconds.rollout),
    "seconds.rollout": seconds.rollout,
    "seconds.update": seconds.update,
  };
  for (const [name, value] of Object.entries(stats)) out[name] = value;
  for (const [name, value] of Object.entries(state.counters)) out[`total.${name}`] = value;
  const gaps = Object.entries(stats).filter(([name]) => name.endsWith("logpGap.max"));
  if (gaps.length > 0) out.logpGap = Math.max(...gaps.map(([, value]) => value));
  return out;
}
