import assert from "node:assert/strict";
import { test } from "node:test";
import { type Curve, health } from "../../src/diagnose/health.ts";

const curve = (...value: number[]): Curve => ({ iteration: value.map((_, i) => i), value });
const steady = (n: number, value: number): Curve => curve(...Array.from({ length: n }, () => value));
const falling = curve(...Array.from({ length: 50 }, (_, i) => 2 * Math.exp(-i / 8)));
const kinds = (curves: Record<string, Curve>) => health(curves).map(({ kind }) => kind);

test("a policy that became certain without succeeding is pointed out, one that succeeds is not", () => {
  // first five: 2·(1 + .8825 + .7788 + .6873 + .6065)/5 = 1.582; the last five are below 0.01
  const [note] = health({ entropy: falling, success: steady(50, 0.4) });
  assert.equal(note?.kind, "entropy");
  assert.match(note.says, /from 1\.58 to 0\.00\d+ nats a token while success is 40 %/);
  assert.deepEqual([note.from, note.until], [45, 50]);
  assert.deepEqual(kinds({ entropy: falling, success: steady(50, 0.97) }), []);
});

test("success that falls is pointed out, and so are tokens that are too old", () => {
  const fell = curve(...Array.from({ length: 40 }, (_, i) => 0.9 - i / 100));
  // first five: 0.9 - 0.02, last five: 0.9 - 0.37
  const [note] = health({ success: fell });
  assert.equal(note?.kind, "success");
  assert.match(note.says, /fell from 88 % to 53 %/);
  assert.deepEqual(kinds({ success: curve(...Array.from({ length: 40 }, (_, i) => 0.9 - i / 400)) }), []);
  assert.deepEqual(kinds({ "importance.truncated": steady(20, 0.08) }), ["stale"]);
  assert.deepEqual(kinds({ "importance.truncated": steady(20, 0.02) }), []);
});

test("groups in which all are paid alike teach nothing, and which way depends on success", () => {
  const alike = (success: number) =>
    health({ deadGroups: steady(20, 9), groups: steady(20, 10), success: steady(20, success) })[0]?.says;
  assert.match(alike(0.95) ?? "", /In 90 % of the groups .* solved every time: practise harder ones/);
  assert.match(alike(0.05) ?? "", /fail every time: begin with easier ones/);
  assert.deepEqual(kinds({ deadGroups: steady(20, 5), groups: steady(20, 10) }), []);
});

test("cut-off and failing episodes are linked to", () => {
  const notes = health({ truncated: steady(20, 0.4), failed: steady(20, 2) });
  assert.deepEqual(
    notes.map(({ kind, episodes }) => [kind, episodes]),
    [
      ["truncated", "truncated"],
      ["failed", "failed"],
    ],
  );
});

test("a reward that never moves, a gap between sampling and training, drift and a jumping gradient", () => {
  assert.deepEqual(kinds({ reward: steady(100, 0) }), ["reward"]);
  assert.deepEqual(kinds({ reward: steady(100, 1), success: steady(100, 1) }), []);
  assert.deepEqual(kinds({ logpGap: curve(...Array<number>(19).fill(1e-6), 0.02) }), ["gap"]);
  assert.deepEqual(kinds({ "klPenalty.kl": steady(20, 0.8) }), ["drift"]);
  assert.deepEqual(kinds({ gradientNorm: curve(...Array<number>(29).fill(1), 500) }), ["gradient"]);
});

test("says nothing of a healthy run, of a few iterations and of nothing", () => {
  assert.deepEqual(kinds({}), []);
  assert.deepEqual(kinds({ truncated: steady(7, 1) }), []);
  const learning = curve(...Array.from({ length: 40 }, (_, i) => i / 40));
  assert.deepEqual(
    kinds({ reward: learning, success: learning, entropy: steady(40, 0.3), logpGap: steady(40, 1e-6) }),
    [],
  );
});

test("gaps in a curve are left out", () => {
  const value = Array.from({ length: 40 }, (_, i) => (i % 2 ? Number.NaN : 0.5));
  assert.deepEqual(kinds({ truncated: curve(...value) }), ["truncated"]);
});
