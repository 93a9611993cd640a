/** Converts logged trajectories into samples. */
import { present } from "../core/errors.ts";
import type { Logged, TrafficSplit } from "../core/served.ts";
import type { Signal } from "../core/signal.ts";
import type { Id } from "../core/types.ts";
import { actionRatio, type Sample, versionRatio } from "./sample.ts";

/** The reward of a trajectory from its signals. With `withAnswer`, which adds the answer's reward itself, use `() => 0`. */
export type TrajectoryReward = (signals: readonly Signal[]) => number;

const atTheEnd = (turns: number, reward: number): number[] =>
  Array.from({ length: turns }, (_, t) => (t + 1 === turns ? reward : 0));

/**
 * A sample for the value of a version, from traffic under a split. If versions were assigned per session or user, there
 * was one draw: its ratio stands at the first turn, and a version that came later does not matter (intention to treat). If
 * they were assigned per response, every turn has its own ratio.
 */
export function versionSample(
  { trajectory, session, user, propensities, signals }: Logged,
  target: Id,
  unit: TrafficSplit["unit"],
  reward: TrajectoryReward,
): Sample {
  const { turns } = trajectory;
  const ratios = turns.map((turn, t) =>
    t === 0 || unit === "response" ? versionRatio(target, turn.version, propensities[t] ?? 1) : 1,
  );
  return { cluster: user ?? session, ratios, rewards: atTheEnd(turns.length, reward(signals)) };
}

/**
 * A sample for the value of a policy that has not been served yet. Each turn's ratio is the probability of the action's
 * tokens under the policy, divided by that under the distribution that they were sampled from.
 * @param target by turn: ln p of the action's tokens under the policy, [tokens].
 * @throws WhetstoneError `shape.mismatch` if a turn was recorded without tokens, or the numbers of tokens differ.
 */
export function policySample(
  { trajectory, session, user, signals }: Logged,
  target: readonly ArrayLike<number>[],
  reward: TrajectoryReward,
): Sample {
  const ratios = trajectory.turns.map((turn, t) => {
    const tokens = present(turn.tokens, "policySample", `tokens in turn ${t} of ${trajectory.id}`);
    return actionRatio(present(target[t], "policySample", `target for turn ${t}`), tokens.behaviour);
  });
  return { cluster: user ?? session, ratios, rewards: atTheEnd(ratios.length, reward(signals)) };
}
