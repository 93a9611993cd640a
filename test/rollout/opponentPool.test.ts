import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../src/core/json.ts";
import { randomStream } from "../../src/core/random.ts";
import {
  drawChances,
  drawSelf,
  keepSelf,
  keptSelves,
  noteGames,
  type PoolOptions,
} from "../../src/rollout/opponentPool.ts";
import { ctxOf } from "../core/make.ts";

/** A run's context over its iterations; weights are the iteration whose policy they are. */
function pooled(pool: PoolOptions, iterations: number, seed = 1) {
  const memory = new Map<string, Json>();
  const weights = new Map<string, number>();
  const at = (iteration: number) =>
    ctxOf({
      clock: { iteration, phase: "train", step: iteration },
      random: randomStream(seed).split("iteration", iteration),
      memory: { get: (key) => memory.get(key), set: (key, value) => void memory.set(key, value) },
      model: () => ({ id: "policy" }) as never,
      frozen: (name) => ({ blend: async () => void weights.set(name, iteration) }) as never,
    });
  const play = async () => {
    for (let i = 0; i < iterations; i++) await keepSelf(at(i), pool);
  };
  return { at, play, weights };
}

test("opponentPool: the latest pool keeps the last selves, every so often, and draws the newest", async () => {
  const pool = { size: 3, every: 2, draw: "latest" } as const;
  const { at, play, weights } = pooled(pool, 10);
  await play();
  // offered at 0, 2, 4, 6, 8; places 0 1 2 0 1
  assert.deepEqual(
    keptSelves(at(10)).map(({ name, since }) => [name, since]),
    [
      ["past.0", 6],
      ["past.1", 8],
      ["past.2", 4],
    ],
  );
  assert.deepEqual(Object.fromEntries(weights), { "past.0": 6, "past.1": 8, "past.2": 4 });
  assert.equal(drawSelf(at(10), pool, "task"), "past.1");
});

test("opponentPool: the uniform pool is a uniform sample of all selves", async () => {
  const kept = new Float64Array(20);
  const runs = 3000;
  for (let seed = 0; seed < runs; seed++) {
    const { at, play, weights } = pooled({ size: 4 }, kept.length, seed);
    await play();
    for (const { since, name } of keptSelves(at(kept.length))) {
      kept[since]!++;
      assert.equal(weights.get(name), since);
    }
  }
  // 4 of 20: a share of 0.2 with a deviation of 0.0073
  for (const n of kept) assert.ok(Math.abs(n / runs - 0.2) < 0.03, `${n / runs}`);
});

test("opponentPool: prioritised draws go to those that win, in proportion to (1 − win rate)²", () => {
  const self = (name: string, games: number, won: number) => ({ name, since: 0, games, won });
  // with half a game more: rates 1/2, 1/4 and 10/11
  const chances = drawChances([self("a", 0, 0), self("b", 1, 0), self("c", 10, 9.5)], "prioritised");
  const weights = [1 / 4, 9 / 16, (1 / 11) ** 2];
  const sum = weights.reduce((a, b) => a + b);
  weights.forEach((w, i) => {
    assert.ok(Math.abs(chances[i]! - w / sum) < 1e-12);
  });
  assert.deepEqual(drawChances([self("a", 9, 9), self("b", 9, 0)]), [0.5, 0.5]);
});

test("opponentPool: games are noted with the self that played them, and a new self in its place begins at none", async () => {
  const { at, weights } = pooled({ size: 1, draw: "latest" }, 0);
  await keepSelf(at(0), { size: 1, draw: "latest" });
  noteGames(at(0), [
    { name: "past.0", won: 1 },
    { name: "past.0", won: 0.5 },
    { name: "past.9", won: 1 },
  ]);
  assert.deepEqual(keptSelves(at(0)), [{ name: "past.0", since: 0, games: 2, won: 1.5 }]);
  await keepSelf(at(1), { size: 1, draw: "latest" });
  assert.deepEqual(keptSelves(at(1)), [{ name: "past.0", since: 1, games: 0, won: 0 }]);
  assert.equal(weights.get("past.0"), 1);
});
