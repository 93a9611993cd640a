import { trajectoryRows } from "../../../common/tokens/pack.ts";
import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { ModelId, Trajectory, Turn, Unit } from "../../../core/types.ts";
import { followUp, type Speaker } from "./followUps.ts";

/** Settings of {@link withFollowUpRows}. */
export interface WithFollowUpRowsOptions {
  /** The model that learns to be the user. Default "user". */
  readonly model?: ModelId;
  /** Who says the follow-up. Default "user". */
  readonly speaker?: Speaker;
  /** What the user said to a turn; undefined where nothing. Default: the environment's words about it. */
  readonly said?: (turn: Turn) => string | undefined;
}

/**
 * What a rollout brings home, and for everything that users said to a reply a row in which another model says it:
 *
 *     row: (x, y, f)          targets: the tokens of f alone
 *
 * A model that has read such rows plays the user, so that it can be asked how users would take other replies. The rows
 * are of origin "demonstrated" and role "user", in the unit of the attempt, without log-probabilities and with advantage 1.
 * Paper: "Aligning Language Models Using Follow-up Likelihood as Reward Signal".
 */
export function withFollowUpRows(rollout: Rollout, options: WithFollowUpRowsOptions = {}): Rollout {
  return async (ctx) => {
    const own = await rollout(ctx);
    const byId = new Map(own.trajectories.map((t) => [t.id, t]));
    const rows = own.units.flatMap((unit) =>
      unit.members.flatMap((id) => {
        const t = byId.get(id);
        return t ? rowsOf(ctx, t, unit, options) : [];
      }),
    );
    return { ...own, rows: [...(own.rows ?? []), ...rows] };
  };
}

function rowsOf(ctx: Ctx, t: Trajectory, unit: Unit, options: WithFollowUpRowsOptions): readonly Row[] {
  const { model = "user", speaker = "user", said = (turn: Turn) => turn.text } = options;
  const { codec } = ctx.model(model);
  return t.turns.flatMap((turn) => {
    const text = said(turn)?.trim();
    if (!text) return [];
    const conversation = [...turn.prompt, turn.action];
    const { prompt, target } = followUp(codec, conversation, text, speaker);
    const unknown = new Float32Array(target.length).fill(Number.NaN);
    const spoken: Turn = {
      ...turn,
      role: "user",
      model,
      prompt: conversation,
      action: { role: "user", content: text },
      tokens: { prompt, action: target, logp: unknown, behaviour: unknown },
      spans: {},
    };
    const written = { ...t, role: "user", turns: [spoken], origin: "demonstrated" } as const;
    return trajectoryRows(written, unit, new Float32Array(target.length).fill(1)).rows;
  });
}
