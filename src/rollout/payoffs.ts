/** What a game came to from one role's side, for pools of opponents and leagues alike. */
import { mean } from "../common/statistics/statistics.ts";
import { paid, type Role, type Trajectory } from "../core/types.ts";

/**
 * Payoff of who played the seat, and the mean of the other roles.
 *
 * A role that never came to act, such as one whose opponent made no move at once, has no trajectory. It earned nothing, or what the other
 * lost where the game is one of two roles whose payoffs sum to zero.
 */
export function payoffsOf(
  trajectories: readonly Trajectory[],
  seat: Role,
  sum: "zero" | "general" = "general",
): readonly [own: number, others: number] {
  const earned = (isOwn: boolean): number | undefined => {
    const some = trajectories.filter(({ role }) => (role === seat) === isOwn).map(paid);
    return some.length === 0 ? undefined : mean(some);
  };
  const [own, others] = [earned(true), earned(false)];
  return sum === "zero" ? [own ?? -(others ?? 0), others ?? -(own ?? 0)] : [own ?? 0, others ?? 0];
}

/**
 * 1 for a payoff above the others', ½ for an equal one, else 0. Who never came to act, counted as 0 or as what the other lost, has won,
 * drawn or lost either way.
 */
export const wonBy = ([own, others]: readonly [own: number, others: number]): number =>
  own > others ? 1 : own === others ? 0.5 : 0;
