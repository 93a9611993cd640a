import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { ModelId, Trajectory, Turn, Unit } from "../../../core/types.ts";
import { demonstratedRows, ofMembers } from "../../../rollout/addedRows.ts";
import { followUp, type Speaker } from "./followUps.ts";

/** Settings of {@link withFollowUpRows}. */
export interface WithFollowUpRowsOptions {
  /** The model trained as the user. Default "user". */
  readonly model?: ModelId;
  /** Role of the follow-up. Default "user". */
  readonly speaker?: Speaker;
  /** The user's follow-up to a turn; undefined without one. Default: the environment's message about it. */
  readonly said?: (turn: Turn) => string | undefined;
}

/**
 * Adds a training row to the rollout for each user follow-up, on which a user model is trained:
 *
 *     row: (x, y, f)          targets: the tokens of f alone
 *
 * A model trained on these rows plays the user, so that it can score users' reactions to other replies. The rows have
 * origin "demonstrated" and role "user", belong to the unit of the attempt, and have no log-probabilities and advantage 1.
 * Paper: "Aligning Language Models Using Follow-up Likelihood as Reward Signal".
 */
export function withFollowUpRows(rollout: Rollout, options: WithFollowUpRowsOptions = {}): Rollout {
  return async (ctx) => {
    const own = await rollout(ctx);
    const rows = ofMembers(own, (t, unit) => rowsOf(ctx, t, unit, options));
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
    const spoken: Turn = {
      ...turn,
      role: "user",
      model,
      prompt: conversation,
      action: { role: "user", content: text },
    };
    return demonstratedRows({ ...t, role: "user" }, unit, spoken, prompt, target);
  });
}
