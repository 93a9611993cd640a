import { leaksAnswer } from "../../../common/text/leaksAnswer.ts";
import type { Able } from "../../../core/evaluator.ts";
import { actionTokens } from "../../../core/types.ts";

/**
 * Wraps a critiquer and drops critiques that leak the task's reference answer. A dropped critique is a failure, and its
 * tokens, if a model of the run wrote it, count as tokens.discarded. Tasks without a reference cannot leak.
 */
export function discreet(critiquer: Able<"critique">): Able<"critique"> {
  return {
    name: critiquer.name,
    async critique(attempt, call) {
      const critique = await critiquer.critique(attempt, call);
      if (!critique || !leaksAnswer(critique.text, attempt.task.reference)) return critique;
      if (critique.written) call.run?.count("tokens.discarded", actionTokens(critique.written));
      return undefined;
    },
  };
}
