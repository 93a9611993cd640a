/** Logged trajectories as samples. */
import { present } from "../core/errors.ts";
import type { Logged, Split } from "../core/served.ts";
import type { Signal } from "../core/signal.ts";
import type { Id } from "../core/types.ts";
import { actionRatio, type Sample, versionRatio } from "./sample.ts";

/** What one trajectory earned, from what was said of it. Beside `withAnswer`, which brings the answer's reward itself: `() => 0`. */
export type TrajectoryReward = (signals: readonly Signal[]) => number;

const atTheEnd = (turns: number, reward: number): number[] =>
  Array.from({ length: turns }, (_, t) => (t + 1 === turns ? reward : 0));

/**
 * For the value of a version, from traffic under a split. Where sessions or users were drawn for, there was one draw: its
 * ratio stands at the first turn, and a version that came later does not matter (intention to treat). Where responses were,
 * every turn has its own.
 */
export function versionSample(
  { trajectory, session, user, propensities, signals }: Logged,
  target: Id,
  unit: Split["unit"],
  reward: TrajectoryReward,
): Sample {
  const { turns } = trajectory;
  const ratios = turns.map((turn, t) =>
    t === 0 || unit === "response" ? versionRatio(target, turn.version, propensities[t] ?? 1) : 1,
  );
  return { cluster: user ?? session, ratios, rewards: atTheEnd(turns.length, reward(signals)) };
}

/**
 * For the value of a policy that has not been served yet: by turn the ratio of the action's tokens under it to that under
 * the distribution that they were drawn from.
 * @param target by turn: ln p of the action's tokens under the policy, [tokens].
 * @throws WhetstoneError `shape.mismatch` where a turn was recorded without tokens, or tokens differ in number.
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
