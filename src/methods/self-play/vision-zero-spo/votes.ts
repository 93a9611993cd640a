import type { Role } from "../../../core/types.ts";

/** Weight of the vote in the clue rewards: β of the spy's share, λ of suspicion among civilians. */
export interface ClueWeights {
  readonly beta: number;
  readonly lambda: number;
}

/**
 * What each player's clues are paid, by the votes of G decisions:
 *
 *     v_p = decisions that name p          v̄ = mean of v over civilians
 *     r_spy = −β (v_spy − v̄)               r_i = β/n_c (v_spy − v̄) − λ (v_i − v̄)          of each of n_c civilians
 *
 * Sums to 0 over the players. Decisions that name nobody, or no player, are no votes.
 * Paper: "Vision-Zero: Scalable VLM Self-Improvement via Strategic Gamified Self-Play".
 */
export function clueRewards(
  players: readonly Role[],
  spy: Role,
  decisions: readonly string[],
  { beta, lambda }: ClueWeights,
): ReadonlyMap<Role, number> {
  const votes = new Map(players.map((player) => [player, decisions.filter((d) => d === player).length]));
  const civilians = players.filter((player) => player !== spy);
  const suspicion = civilians.reduce((sum, player) => sum + votes.get(player)!, 0) / civilians.length;
  const found = votes.get(spy)! - suspicion;
  return new Map(
    players.map((player) => {
      const own = votes.get(player)! - suspicion;
      return [player, player === spy ? -beta * found : (beta / civilians.length) * found - lambda * own];
    }),
  );
}

/** Of a decision: 1 for the spy, −½ for nobody, −1 for anybody else or for no answer. */
export const decisionReward = (decision: string, spy: Role, nobody: string): number =>
  decision === spy ? 1 : decision === nobody ? -0.5 : -1;
