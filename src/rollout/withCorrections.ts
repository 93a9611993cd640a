import { concatIds } from "../common/tokens/sequence.ts";
import type { Row } from "../core/batch.ts";
import type { Ctx } from "../core/context.ts";
import type { Rollout } from "../core/slots.ts";
import type { Trajectory, Turn, Unit } from "../core/types.ts";
import { demonstratedRows, ofMembers } from "./addedRows.ts";

/** Settings of {@link withCorrections}. */
export interface WithCorrectionsOptions {
  /** The correction of a turn; undefined without one. Default: the environment's message about the turn. */
  readonly correction?: (turn: Turn) => string | undefined;
}

/**
 * Adds a training row to the rollout for every corrected turn, with the correction as the target:
 *
 *     row: (x_k, c_k)          x_k: the exact prompt of turn k; targets: the tokens of c_k and its end
 *
 * The label belongs to the corrected turn, not to the next one, before which the correction was already executed. Rows
 * have origin "demonstrated", belong to the unit of the attempt, and have no log-probabilities and advantage 1.
 * Stats: `corrections`, per turn.
 * Papers: "Yell At Your Robot: Improving On-the-Fly from Language Corrections"; "A Reduction of Imitation Learning and
 * Structured Prediction to No-Regret Online Learning" (labels at states that the learner itself visits).
 */
export function withCorrections(rollout: Rollout, options: WithCorrectionsOptions = {}): Rollout {
  const { correction = ({ text }: Turn) => text } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const rows = ofMembers(own, (t, unit) => rowsOf(ctx, t, unit, correction));
    const turns = own.trajectories.reduce((sum, t) => sum + t.turns.length, 0);
    const stats = turns === 0 ? {} : { corrections: rows.length / turns };
    return { ...own, rows: [...(own.rows ?? []), ...rows], stats: { ...own.stats, ...stats } };
  };
}

function rowsOf(
  ctx: Ctx,
  t: Trajectory,
  unit: Unit,
  correction: (turn: Turn) => string | undefined,
): readonly Row[] {
  return t.turns.flatMap((turn) => {
    const text = correction(turn)?.trim();
    if (!text || !turn.tokens) return [];
    const { codec } = ctx.model(turn.model);
    const ends = turn.stop === "eos" ? Int32Array.of(codec.endId) : new Int32Array();
    const action = concatIds([codec.encode(text), ends]);
    const corrected: Turn = { ...turn, action: { role: "assistant", content: text } };
    return demonstratedRows(t, unit, corrected, turn.tokens.prompt, action);
  });
}
