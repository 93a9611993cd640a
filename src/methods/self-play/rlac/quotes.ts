import { evaluatorIn } from "../../../core/evaluator.ts";
import type { Validate } from "./adversary.ts";

/**
 * A validator for environments that write critiques: a check is a quotation from the attempt, and is violated where the environment's own
 * critique calls poor what it quotes.
 *
 *     violated    a poor mark overlaps the check's first occurrence in an action
 *     passed      no poor mark does
 *     invalid     the check is empty, or stands in no action
 *
 * Undefined where the environment writes no critique, or none with marks.
 * Paper: "RLAC: Reinforcement Learning with Adversarial Critic for Free-Form Generation Tasks".
 */
export const quotedParts: Validate = async (ctx, _task, attempt, check) => {
  const turn = attempt.turns.findIndex(({ action }) => check !== "" && action.content.includes(check));
  if (turn < 0) return "invalid";
  const { critique } = evaluatorIn(ctx, ctx.environment);
  const marks = (await critique(attempt, ctx.random.split("validate", attempt.id)))?.marks;
  if (!marks) return undefined;
  const from = attempt.turns[turn]!.action.content.indexOf(check);
  const to = from + check.length;
  const poor = marks.some((mark) => !mark.good && mark.turn === turn && mark.from < to && from < mark.to);
  return poor ? "violated" : "passed";
};
