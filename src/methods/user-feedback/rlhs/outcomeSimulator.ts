/** Outcomes of advice once a user acts on it, simulated or observed before the rating. */
import type { Ctx } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";

export interface SimulatedOutcome {
  /** Index of the chosen option. */
  readonly taken: string;
  /** Utility of each option per step from the choice on, actual or counterfactual. */
  readonly utilities: Readonly<Record<string, readonly number[]>>;
}

/**
 * Simulates the outcome after a conversation has ended. It uses facts, or a model trained on them, and never the claims of
 * the conversation, which are under test. Undefined if it cannot evaluate the episode.
 * @param random the simulation's own random stream.
 */
export type OutcomeSimulator = (
  ctx: Ctx,
  trajectory: Trajectory,
  random: Random,
) => Promise<SimulatedOutcome | undefined>;
