import assert from "node:assert/strict";
import { test } from "node:test";
import type { Signal } from "../../../core/signal.ts";
import type { Span } from "../../../core/types.ts";
import { lengthWeight, markedSpans } from "./markedSpans.ts";

const said = { kind: "critique", channel: "critique", source: "critiquer", text: "so so" } as const;
const marked = (value: number, spans: readonly Span[], turn = 0): Signal => ({
  ...said,
  value,
  about: spans.map((span) => ({ trajectory: "t", turn, span })),
});
const credit = (signals: readonly Signal[], slope = 0) =>
  markedSpans({ slope })({ trajectories: [], units: [], notes: {}, signals }).critique!;

test("markedSpans: each token of a span is worth what the span is; the whole was looked at", () => {
  const text: Signal = { ...said, about: [{ trajectory: "t" }] };
  const other: Signal = { ...said, channel: "other", value: 1, about: [{ trajectory: "u" }] };
  const at = (turn: number, i: number) => ({ trajectory: "t", turn, span: [i, i + 1] });
  assert.deepEqual(credit([text, marked(1, [[0, 2]]), marked(-1, [[3, 4]], 1), other]), [
    { at: { trajectory: "t" }, value: 0 },
    { at: at(0, 0), value: 1 },
    { at: at(0, 1), value: 1 },
    { at: at(1, 3), value: -1 },
  ]);
  assert.deepEqual(credit([]), []);
});

test("lengthWeight by hand: 1/(1 + e^−6) at the usual length, a half 6/α later, 1/(1 + e^6) at the least", () => {
  const near = (got: number, want: number) => assert.ok(Math.abs(got - want) < 1e-5, `${got}, not ${want}`);
  near(lengthWeight(20, 20, 0.1), 0.99753);
  near(lengthWeight(80, 20, 0.1), 0.5);
  near(lengthWeight(500, 20, 0.1), 0.00247);
  near(lengthWeight(0, 1000, 0.1), 1 / (1 + Math.exp(-10)));
  assert.equal(lengthWeight(500, 20, 0), 1);
});

test("markedSpans with a slope: marks that lie far apart lose, counted from the first one", () => {
  // two spans of one token: L = 1 · 2; the second one is token 10 − 4 + 1 = 7 from the first: 1/(1 + e^(2 (7 − 2) − 6))
  const [, first, last] = credit([marked(1, [[4, 5]]), marked(-1, [[10, 11]])], 2);
  assert.ok(Math.abs(first!.value - 1 / (1 + Math.exp(2 * (1 - 2) - 6))) < 1e-12);
  assert.ok(Math.abs(last!.value + 1 / (1 + Math.exp(4))) < 1e-12);
});
