import type { Codec } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Span, Trajectory } from "../../../core/types.ts";

/** Settings of {@link withSpans}. */
export interface WithSpansOptions {
  /** Name of the span, e.g. "thought". */
  readonly name: string;
  /** Text that begins it. */
  readonly open: string;
  /** Text that ends it. */
  readonly close: string;
  /** "inside": the tokens between each pair of markers. "before": everything up to the last end marker. Default "inside". */
  readonly cover?: "inside" | "before";
  /** Whether the markers belong to the span. Default false. */
  readonly markers?: boolean;
}

/**
 * Adds named spans to the rollout's actions: the tokens between two markers, as `Turn.spans[name]`. The next end marker
 * closes a begin marker; with "before" the span goes from the action's first token to its last end marker. An action
 * with unmatched markers, or without tokens, has no such span.
 */
export function withSpans(rollout: Rollout, options: WithSpansOptions): Rollout {
  return async (ctx) => {
    const experience = await rollout(ctx);
    const marked = (t: Trajectory): Trajectory => ({
      ...t,
      turns: t.turns.map((turn) => {
        if (!turn.tokens) return turn;
        const found = spansIn(turn.tokens.action, ctx.model(turn.model).codec, options);
        return found.length === 0 ? turn : { ...turn, spans: { ...turn.spans, [options.name]: found } };
      }),
    });
    return { ...experience, trajectories: experience.trajectories.map(marked) };
  };
}

/** The parts of one action, as ranges of its tokens, in order. */
export function spansIn(
  action: Int32Array,
  codec: Pick<Codec, "encode">,
  { open, close, cover = "inside", markers = false }: Omit<WithSpansOptions, "name">,
): Span[] {
  const [begin, end] = [codec.encode(open), codec.encode(close)];
  const pairs: { from: number; to: number }[] = [];
  let opened: number | undefined;
  for (let i = 0; i < action.length; i++) {
    if (isAt(action, begin, i)) {
      if (opened !== undefined) return [];
      opened = i;
    } else if (isAt(action, end, i)) {
      if (opened === undefined) return [];
      pairs.push({ from: opened, to: i + end.length });
      opened = undefined;
    }
  }
  const last = pairs.at(-1);
  if (opened !== undefined || last === undefined) return [];
  if (cover === "before") return [[0, markers ? last.to : last.to - end.length]];
  return pairs.map(({ from, to }) => (markers ? [from, to] : [from + begin.length, to - end.length]));
}

function isAt(tokens: Int32Array, part: Int32Array, at: number): boolean {
  return part.length > 0 && part.every((id, k) => tokens[at + k] === id);
}
