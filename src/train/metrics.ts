/** The metrics of an iteration, by name. */
import { gapSpread, isGapSum } from "../common/statistics/gaps.ts";
import type { Experience } from "../core/slots.ts";
import { isLogged } from "../core/trainingExamples.ts";
import { type Stats, succeeded, type Trajectory } from "../core/types.ts";
import { average, rewardOf } from "./evaluate.ts";
import type { Iteration } from "./running.ts";
import type { RunState } from "./state.ts";

/** Demonstrations, attempts that are trained on again and what production recorded do not show what the policy can do now. */
const isOwn = ({ origin, task }: Trajectory): boolean =>
  origin !== "demonstrated" && origin !== "replayed" && !isLogged(task);

/** Shares of the groups in which every attempt succeeded, and in which none did. What is compared with nobody is no group. */
function groupShares({ units, trajectories }: Experience): Stats {
  const won = new Map(
    trajectories.flatMap((t) => (t.end.kind === "failed" || !isOwn(t) ? [] : [[t.id, succeeded(t)]])),
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

/**
 * All metrics of an iteration, by name; those that were not measured are absent.
 * @param elsewhere whether a trajectory was sampled by another process: it says nothing of this one's speed.
 */
export function metricsOf(
  { experience, stats, seconds }: Iteration,
  state: RunState,
  elsewhere: (trajectory: string) => boolean = () => false,
): Stats {
  const own = experience.trajectories.filter(isOwn);
  const ended = own.filter((t) => t.end.kind !== "failed");
  const tokens = own.flatMap((t) => t.turns.flatMap((turn) => turn.tokens ?? []));
  const here = own
    .filter((t) => !elsewhere(t.id))
    .flatMap((t) => t.turns.flatMap((turn) => turn.tokens ?? []));
  const sampled = here.reduce((sum, { action }) => sum + action.length, 0);
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
    ...((sampled > 0 || tokens.length === 0) && {
      tokensPerSecond: sampled / Math.max(1e-9, seconds.rollout),
    }),
    "seconds.rollout": seconds.rollout,
    "seconds.update": seconds.update,
  };
  for (const [name, value] of Object.entries(stats)) if (!isGapSum("logpGap", name)) out[name] = value;
  for (const [name, value] of Object.entries(state.counters)) out[`total.${name}`] = value;
  const gap = gapSpread("logpGap", stats);
  if (gap) {
    out.logpGap = gap.largest;
    out["logpGap.mean"] = gap.mean;
    out["logpGap.p999"] = gap.p999;
  }
  return out;
}
