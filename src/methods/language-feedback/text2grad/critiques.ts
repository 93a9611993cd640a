import { markedSpan } from "../../../common/text/quotedSpans.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Critique } from "../../../core/critique.ts";
import { type Able, evaluatorIn } from "../../../core/evaluator.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Ref, Trajectory } from "../../../core/types.ts";

/** Settings of {@link critiques}. */
export interface CritiquesOptions {
  /** Criticises every trajectory without a critique from the rollout. Default: none. */
  readonly critiquer?: Able<"critique">;
  /** Default "critique". */
  readonly channel?: string;
}

/**
 * Critiques of each trajectory, as up to three signals:
 *
 *     the text, about the turn to change, or about the whole trajectory; without a value
 *     +1 about all praised spans, −1 about all blamed spans
 *
 * Spans without tokens are dropped. An invalid critique gives no signal; failed episodes, and those without actions, are
 * not criticised.
 */
export function critiques({ critiquer, channel = "critique" }: CritiquesOptions = {}): Feedback {
  return async (ctx, { trajectories, critiques: known }) => {
    const asked = critiquer && evaluatorIn(ctx, critiquer);
    const acted = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const heard = await Promise.all(
      acted.map(async (t) => {
        const said = known?.get(t.id) ?? (await asked?.critique(t, ctx.random.split("critique", t.id)));
        return said ? signalsOf(ctx, t, said, channel) : [];
      }),
    );
    return heard.flat();
  };
}

function signalsOf(ctx: Ctx, t: Trajectory, critique: Critique, channel: string): readonly Signal[] {
  const { text, turn, marks = [] } = critique;
  const said = { kind: "critique", channel, source: "critiquer", text } as const;
  const spans = (good: boolean): readonly Ref[] =>
    marks
      .filter((mark) => mark.good === good)
      .flatMap((mark) => {
        const of = t.turns[mark.turn];
        const span = of && markedSpan(of, ctx.model(of.model).codec, mark);
        return span ? [{ trajectory: t.id, turn: mark.turn, span }] : [];
      });
  return [
    { ...said, about: [{ trajectory: t.id, ...(turn !== undefined && { turn }) }] },
    { ...said, about: spans(true), value: 1 },
    { ...said, about: spans(false), value: -1 },
  ].filter(({ about }) => about.length > 0);
}
