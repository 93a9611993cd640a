import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Model } from "../../../core/model.ts";
import { vocabularyCodec } from "../../../engine/tabular/codec.ts";
import { spansIn, withSpans } from "./withSpans.ts";

const codec = vocabularyCodec(["think so a b c"]);
const markers = { open: "think", close: "so" };
const spans = (text: string, more = {}) => spansIn(codec.encode(text), codec, { ...markers, ...more });

test("spansIn: what lies between the markers, each pair", () => {
  assert.deepEqual(spans("think a b so c"), [[1, 3]]);
  assert.deepEqual(spans("a think b so c think so"), [
    [2, 3],
    [6, 6],
  ]);
  assert.deepEqual(spans("think a so b", { markers: true }), [[0, 3]]);
});

test("spansIn: everything up to the last end", () => {
  assert.deepEqual(spans("a think b so c", { cover: "before" }), [[0, 3]]);
  assert.deepEqual(spans("a think b so c", { cover: "before", markers: true }), [[0, 4]]);
});

test("spansIn: markers that do not match make no part", () => {
  for (const text of ["a b", "think a b", "a so b", "think think a so", "think a so so", ""])
    assert.deepEqual(spans(text), []);
});

test("withSpans names the parts of turns with tokens, and keeps what was named before", async () => {
  const turn = turnOf([1], [...codec.encode("think a so b")], { spans: { call: [[3, 4]] } });
  const { tokens: _tokens, ...bare } = turn;
  const t = trajectoryOf("t", [turn, bare]);
  const ctx = ctxOf({ model: () => ({ codec }) as Pick<Model, "codec"> as Model });
  const marked = withSpans(async () => ({ trajectories: [t], units: [] }), { name: "thought", ...markers });
  const [made] = (await marked(ctx)).trajectories;
  assert.deepEqual(made!.turns[0]!.spans, { call: [[3, 4]], thought: [[1, 2]] });
  assert.deepEqual(made!.turns[1]!.spans, { call: [[3, 4]] });
});
