import { concatIds } from "../../../common/tokens/sequence.ts";
import type { Row } from "../../../core/batch.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Message, Trajectory, Turn, Unit } from "../../../core/types.ts";
import { demonstratedRows, ofMembers } from "../../../rollout/addedRows.ts";

/** The role that such rows name. */
export const critiquerRole = "critiquer";

/** Settings of {@link withCritiqueRows}. */
export interface WithCritiqueRowsOptions {
  /** The question to the policy after the attempt. Default "How did this attempt go?". */
  readonly question?: string;
}

/**
 * Adds a training row to the rollout for each of its critiques, in which the policy itself writes that critique:
 *
 *     row: (x, y, question, c)          targets: the tokens of c and its end
 *
 * Predicting critiques teaches the policy what was wrong with an attempt and makes it a critiquer. The rows have origin
 * "demonstrated" and role "critiquer", belong to the unit of the attempt, and have no log-probabilities and advantage 1, so
 * that a likelihood can be restricted to them and ratios to the sampled rows.
 * Paper: "Expanding the Capabilities of Reinforcement Learning via Text Feedback".
 */
export function withCritiqueRows(rollout: Rollout, options: WithCritiqueRowsOptions = {}): Rollout {
  const { question = critiqueAsked } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const rows = ofMembers(own, (t, unit) => {
      const critique = own.critiques?.get(t.id);
      return critique ? rowsOf(ctx, t, unit, question, critique.text) : [];
    });
    return { ...own, rows: [...(own.rows ?? []), ...rows] };
  };
}

/** The default question. */
export const critiqueAsked = "How did this attempt go?";

function rowsOf(ctx: Ctx, t: Trajectory, unit: Unit, question: string, text: string): readonly Row[] {
  const last = t.turns.at(-1);
  if (!last) return [];
  const { codec } = ctx.model(last.model);
  const messages: readonly Message[] = [...last.prompt, last.action, { role: "user", content: question }];
  const action = concatIds([codec.encode(text), Int32Array.of(codec.endId)]);
  const turn: Turn = {
    ...last,
    role: critiquerRole,
    prompt: messages,
    action: { role: "assistant", content: text },
  };
  return demonstratedRows({ ...t, role: critiquerRole }, unit, turn, codec.open(messages), action);
}
