import { concatIds, trajectoryRows } from "../../../common/tokens/pack.ts";
import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory, Turn, Unit } from "../../../core/types.ts";

/** Settings of {@link withCorrections}. */
export interface WithCorrectionsOptions {
  /** What somebody said should have been done instead; undefined where nobody spoke. Default: the environment's words about the turn. */
  readonly correction?: (turn: Turn) => string | undefined;
}

/**
 * What a rollout brings home, and for every turn that somebody corrected a row in which the policy says what it was told:
 *
 *     row: (x_k, c_k)          x_k: what turn k saw, exactly; targets: the tokens of c_k and its end
 *
 * The label belongs to the turn at which the person spoke, not to the one after it, in which the correction had been
 * carried out already. Rows are of origin "demonstrated", in the unit of the attempt, without log-probabilities and with
 * advantage 1. Stats: `corrections`, per turn.
 * Papers: "Yell At Your Robot: Improving On-the-Fly from Language Corrections"; "A Reduction of Imitation Learning and
 * Structured Prediction to No-Regret Online Learning" (labels where the learner itself went).
 */
export function withCorrections(rollout: Rollout, options: WithCorrectionsOptions = {}): Rollout {
  const { correction = ({ text }: Turn) => text } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const byId = new Map(own.trajectories.map((t) => [t.id, t]));
    const rows = own.units.flatMap((unit) =>
      unit.members.flatMap((id) => {
        const t = byId.get(id);
        return t ? rowsOf(ctx, t, unit, correction) : [];
      }),
    );
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
    const unknown = new Float32Array(action.length).fill(Number.NaN);
    const told: Turn = {
      ...turn,
      action: { role: "assistant", content: text },
      tokens: { prompt: turn.tokens.prompt, action, logp: unknown, behaviour: unknown },
      spans: {},
    };
    const written = { ...t, turns: [told], origin: "demonstrated" } as const;
    return trajectoryRows(written, unit, new Float32Array(action.length).fill(1)).rows;
  });
}
