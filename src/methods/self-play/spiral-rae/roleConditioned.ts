import type { ChannelOptions } from "../../../advantage/returns.ts";
import { onTop, scoredUnits } from "../../../advantage/returns.ts";
import { mapById } from "../../../common/mapById.ts";
import { overTurns } from "../../../common/tokens/tokenRanges.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Id, Trajectory } from "../../../core/types.ts";

/** Settings of {@link roleConditioned}. */
export interface RoleConditionedOptions extends ChannelOptions {
  /** Share α of the old baseline that each game keeps, in [0, 1]. Default 0.95. */
  readonly keep?: number;
  /** Discount factor γ per turn of the role, in [0, 1]. Default 1. */
  readonly discount?: number;
}

/** Baselines by game and role. */
type Baselines = Readonly<Record<string, number>>;

/**
 * Role-conditioned advantage (RAE): a moving average of returns for each game and role, in place of a group's mean.
 *
 *     A = R − b[game, role],   then   b ← α b + (1 − α) R          b: 0 at first; game after game, in the order of play
 *     A[turn j of n] = γ^(n − 1 − j) · A                           on every token of the turn
 *
 * A game's own return never enters its baseline, so the gradient is unbiased. The game is the first part of the task's id
 * ("kuhn-poker" of "kuhn-poker/train/3"). Nothing is divided by a deviation. A trajectory whose advantage is exactly 0, or that has no
 * feedback, is not trained on; its return still moves the baseline. Stats: `baseline.<role>` after the batch, mean over games.
 * Paper: "SPIRAL: Self-Play on Zero-Sum Games Incentivizes Reasoning via Multi-Agent Multi-Turn Reinforcement Learning".
 */
export function roleConditioned(options: RoleConditionedOptions = {}): Advantage<Baselines> {
  const { keep = 0.95, discount = 1 } = options;
  return {
    name: "roleConditioned",
    init: () => ({}),
    apply: (annotated, state, soFar) => {
      const byId = mapById(annotated.trajectories);
      const baselines: Record<string, number> = { ...state };
      const advantages = new Map<Id, Float32Array>();
      const roles = new Map<string, string>();
      for (const { unit, value } of scoredUnits(annotated, options)) {
        for (const member of unit.members) {
          const t = byId.get(member);
          if (!t) continue;
          const key = keyOf(t);
          roles.set(key, t.role);
          const before = baselines[key] ?? 0;
          baselines[key] = keep * before + (1 - keep) * value;
          if (value !== before) advantages.set(t.id, overTurns(t, discounted(t, value - before, discount)));
        }
      }
      const groups = Map.groupBy(roles, ([, role]) => role);
      const stats = Object.fromEntries(
        [...groups].map(([role, own]) => [
          `baseline.${role}`,
          own.reduce((sum, [key]) => sum + baselines[key]! / own.length, 0),
        ]),
      );
      return { advantages: onTop(advantages, soFar), next: baselines, stats };
    },
  };
}

const keyOf = ({ task, role }: Trajectory): string => `${task.split("/")[0]}/${role}`;

/** γ^(n − 1 − j) · A for each turn j. */
const discounted = ({ turns }: Trajectory, advantage: number, discount: number): number[] =>
  turns.map((_, j) => discount ** (turns.length - 1 - j) * advantage);
