/** A run on a server that is killed in its midst; `bench/tinker-faults.ts` does this and worse, over and over. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fateOf } from "../../bench/tinker-faults/network.ts";
import { runThrough } from "../../bench/tinker-faults/rounds.ts";
import { randomStream } from "../../src/core/random.ts";
import { folder } from "../train/world.ts";

test("a run whose server is killed stops with a clear error, and is resumed to the weights of an undisturbed one", async () => {
  const place = { folder: folder(), iterations: 2, kills: 1 };
  const random = randomStream("faults");
  const calm = await runThrough("none", "0", place, random.split("none", 0), 0);
  assert.deepEqual([calm.resumed, calm.kills], [0, 0]);
  const killed = await runThrough("server", "0", place, random.split("server", 0), calm.pace);
  assert.equal(killed.digest, calm.digest);
  assert.equal(killed.kills, 1);
  assert.equal(killed.resumed, killed.said.length);
  for (const words of killed.said) assert.match(words, /restarted.+--resume/);
});

test("rollouts ahead of learning survive a server that is killed and a client that is: the same weights, and nobody waits", async () => {
  const place = { folder: folder(), iterations: 3, kills: 2, staleness: 2 };
  const random = randomStream("faults ahead");
  const calm = await runThrough("none", "0", place, random.split("none", 0), 0);
  const killed = await runThrough("ahead", "0", place, random.split("ahead", 0), calm.pace);
  assert.equal(killed.digest, calm.digest);
  assert.equal(killed.kills, 2);
  for (const words of killed.said) assert.match(words, /restarted.+--resume/);
  // a client that is left to its patience takes 100 s
  assert.ok(killed.seconds < 90, `${killed.seconds} s`);
});

test("shares of requests go wrong as the weather says", () => {
  const weather = { lost: 0.1, cut: 0.2 };
  assert.deepEqual(
    [0, 0.09, 0.11, 0.29, 0.31].map((draw) => fateOf(weather, draw)),
    ["lost", "lost", "cut", "cut", undefined],
  );
});
