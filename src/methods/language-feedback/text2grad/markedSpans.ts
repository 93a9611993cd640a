import { type Signal, signalValue } from "../../../core/signal.ts";
import type { Credit, Credited } from "../../../core/slots.ts";
import type { Id, Ref, Span } from "../../../core/types.ts";

/** Settings of {@link markedSpans}. */
export interface MarkedSpansOptions {
  /** Default "critique". */
  readonly channel?: string;
  /** α, decay per token of spans beyond the usual length. Default 0: no decay. */
  readonly slope?: number;
}

/**
 * Pseudo-rewards from a critiquer's spans: every token of a span gets the span's value, every other token 0.
 *
 *     δ[t] = w(n) · (+1 praised, −1 blamed)                  w = 1 without a slope
 *     w(n) = 1 / (1 + exp(clamp(α (n − L) − 6, −10, 6)))
 *
 * n counts a turn's tokens from the first marked one; L is the median length of its marked spans times their number, so
 * scattered spans lose weight. A criticised trajectory without marked spans gets credit 0; one without a critique gets no
 * credit.
 * Paper: "Text2Grad: Reinforcement Learning from Natural Language Feedback".
 */
export function markedSpans({ channel = "critique", slope = 0 }: MarkedSpansOptions = {}): Credit {
  return ({ signals }) => {
    const marks = signals.filter((s) => s.kind === "critique" && s.channel === channel).flatMap(marksIn);
    const turns = Map.groupBy(
      marks.filter(({ span }) => span),
      ({ trajectory, turn }) => JSON.stringify([trajectory, turn]),
    );
    const seen: readonly Id[] = [...new Set(marks.map(({ trajectory }) => trajectory))];
    return {
      [channel]: [
        ...seen.map((trajectory): Credited => ({ at: { trajectory }, value: 0 })),
        ...[...turns.values()].flatMap((own) => tokensOf(own, slope)),
      ],
    };
  };
}

interface Marked extends Ref {
  readonly value: number;
}

function marksIn(signal: Signal): readonly Marked[] {
  return signal.about.map((at) => ({ ...at, value: signalValue(signal) ?? 0 }));
}

/** The marks of one turn, token by token. */
function tokensOf(marks: readonly Marked[], slope: number): readonly Credited[] {
  const spans = marks.flatMap(({ span }) => (span ? [span] : []));
  const first = Math.min(...spans.map(([from]) => from));
  const usual = medianLength(spans) * spans.length;
  return marks.flatMap(({ value, span: [from, to] = [0, 0], ...at }) =>
    Array.from({ length: to - from }, (_, i) => ({
      at: { ...at, span: [from + i, from + i + 1] as const },
      value: value * lengthWeight(from + i - first + 1, usual, slope),
    })),
  );
}

function medianLength(spans: readonly Span[]): number {
  const lengths = spans.map(([from, to]) => to - from).sort((a, b) => a - b);
  const middle = lengths.length >> 1;
  return lengths.length % 2 === 1 ? lengths[middle]! : (lengths[middle - 1]! + lengths[middle]!) / 2;
}

/** w(n) of {@link markedSpans}: 0.998 at the usual length, ½ at 6/α tokens more, never below 0.0024. */
export function lengthWeight(n: number, usual: number, slope: number): number {
  if (slope === 0) return 1;
  return 1 / (1 + Math.exp(Math.min(6, Math.max(-10, slope * (n - usual) - 6))));
}
