import type { Row } from "../../../core/batch.ts";
import type { Rollout } from "../../../core/slots.ts";
import { type ModelId, succeeded, type Trajectory, type Unit } from "../../../core/types.ts";
import { demonstratedRows, ofMembers } from "../../../rollout/addedRows.ts";
import { verdictPrompt, verdictWords } from "./verdictScore.ts";

/** Settings of {@link withVerdictRows}. */
export interface WithVerdictRowsOptions {
  /** The model that learns to judge. Default "verifier". */
  readonly model?: ModelId;
  /** Weight of all resolved attempts together, as a multiple of that of all others. Default 2. */
  readonly ratio?: number;
}

/**
 * Adds a training row for a verifier to each attempt: the trajectory, the question, and the verdict that the tests gave.
 *
 *     row: (τ, question, v)     targets: the tokens of v alone; v = YES where the attempt succeeded, else NO
 *     weights: Σ over YES = ratio · Σ over NO, with mean 1; 1 each where an iteration has one label alone
 *
 * Rows have origin "demonstrated" and role "verifier", so that a likelihood can be restricted to them. Attempts that failed get none.
 * Paper: "SWE-RM: Execution-free Feedback For Software Engineering Agents".
 */
export function withVerdictRows(rollout: Rollout, options: WithVerdictRowsOptions = {}): Rollout {
  const { model = "verifier", ratio = 2 } = options;
  return async (ctx) => {
    const own = await rollout(ctx);
    const { codec, contextTokens } = ctx.model(model);
    const rowsOf = (t: Trajectory, unit: Unit): readonly Row[] => {
      const [last, messages] = [t.turns.at(-1), verdictPrompt(t)];
      if (!last || !messages || t.end.kind === "failed") return [];
      const content = succeeded(t) ? verdictWords.yes : verdictWords.no;
      const [prompt, action] = [codec.open(messages), codec.encode(content)];
      if (prompt.length + action.length > contextTokens) return [];
      const turn = {
        ...last,
        model,
        role: model,
        prompt: messages,
        action: { role: "assistant", content },
      } as const;
      return demonstratedRows({ ...t, role: model }, unit, turn, prompt, action);
    };
    const labelled = ofMembers(own, (t, unit) => rowsOf(t, unit).map((row) => ({ row, yes: succeeded(t) })));
    const [all, yes] = [labelled.length, labelled.filter((l) => l.yes).length];
    const weight =
      yes === 0 || yes === all
        ? () => 1
        : (isYes: boolean) => shareOf(isYes, ratio) * (all / (isYes ? yes : all - yes));
    const rows = labelled.map(({ row, yes }) => ({ ...row, weight: row.weight.map((w) => w * weight(yes)) }));
    return { ...own, rows: [...(own.rows ?? []), ...rows] };
  };
}

/** Share of the whole weight that a label gets. */
const shareOf = (yes: boolean, ratio: number): number => (yes ? ratio : 1) / (ratio + 1);
