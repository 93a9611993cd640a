import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import type { Signal } from "../../src/core/signal.ts";
import { comparisons } from "../../src/feedback/comparisons.ts";
import { ctxWith, evidenceOf } from "../core/make.ts";

/** An oracle that prefers earlier members: probability 1/2 + distance/8, of ids such as "0.3". */
const ctx = ctxWith({
  compare: async ({ trajectory: first }, { trajectory: second }) => {
    const [i, j] = [first, second].map((t) => Number(t.id.split(".")[1]));
    return 0.5 + (j! - i!) / 8;
  },
});
const group = (n: number) => evidenceOf([Array.from({ length: n }, () => 0)]);
const shown = (signals: readonly Signal[]) =>
  signals.map((s) => s.kind === "preference" && [s.about.map((r) => r.trajectory), s.best, s.value]);

test("comparisons: neighbours leave one over, all are n(n − 1)/2, extremes are one", async () => {
  const ask = (pairs: "neighbours" | "all" | "extremes", n: number) =>
    comparisons({ pairs, label: "expected" })(ctx, group(n), {});
  assert.deepEqual(shown(await ask("neighbours", 3)), [[["0.0", "0.1"], 0, 0.625]]);
  assert.deepEqual(shown(await ask("all", 3)), [
    [["0.0", "0.1"], 0, 0.625],
    [["0.0", "0.2"], 0, 0.75],
    [["0.1", "0.2"], 0, 0.625],
  ]);
  // 0.0 wins 0.625 + 0.75 + 0.875, 0.3 wins least
  assert.deepEqual(shown(await ask("extremes", 4)), [[["0.0", "0.3"], 0, 0.875]]);
  for (const pairs of ["neighbours", "all", "extremes"] as const) assert.deepEqual(await ask(pairs, 1), []);
});

test("comparisons: groups are never mixed", async () => {
  const signals = await comparisons({ pairs: "all", label: "expected" })(
    ctx,
    evidenceOf([
      [0, 0],
      [0, 0],
    ]),
    {},
  );
  for (const { about } of signals)
    assert.equal(new Set(about.map((r) => r.trajectory.split(".")[0])).size, 1);
  assert.equal(signals.length, 2);
});

test("comparisons: drawn votes come as often as the oracle says, the same from the same stream", async () => {
  const ask = (seed: number) =>
    comparisons()({ ...ctx, random: randomStream(seed) }, group(2), {}).then(([s]) => s);
  let wins = 0;
  for (let seed = 0; seed < 2000; seed++) {
    const signal = await ask(seed);
    if (signal?.kind === "preference" && signal.best === 0) wins++;
  }
  // 0.625 ± 5 deviations of 0.0108
  assert.ok(Math.abs(wins / 2000 - 0.625) < 0.055, String(wins));
  assert.deepEqual(await ask(5), await ask(5));
});

test("comparisons: a tie is silence or a half; a judge that fails is silence", async () => {
  const tie = ctxWith({ compare: async () => 0.5 });
  assert.deepEqual(await comparisons({ label: "likelier" })(tie, group(2), {}), []);
  assert.deepEqual(shown(await comparisons({ label: "expected" })(tie, group(2), {})), [
    [["0.0", "0.1"], 0, 0.5],
  ]);
  const away = ctxWith({ compare: async () => undefined });
  assert.deepEqual(await comparisons()(away, group(4), {}), []);
});
