/** A few of the rounds that bench/durability.ts runs by the hundred. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { killRounds } from "../../bench/durability/rounds.ts";
import { randomStream } from "../../src/core/random.ts";
import { freshFile, postgres } from "./each.ts";

const random = randomStream(1);

test("SQLite: killed at any moment, no acknowledged signal is lost, none is doubled", async () => {
  const { lost, doubled, acknowledged, rounds } = await killRounds({ where: freshFile(), rounds: 3, random });
  assert.deepEqual({ rounds, lost, doubled }, { rounds: 3, lost: 0, doubled: 0 });
  assert.ok(acknowledged > 0);
});

test("PostgreSQL: the same, and its server killed besides", async (t) => {
  const server = await postgres();
  if (typeof server === "string") return t.skip(server);
  const { lost, doubled, acknowledged, rounds } = await killRounds({
    where: await server.database(),
    rounds: 3,
    random,
    ...(server.folder !== undefined && { crash: { every: 3, run: () => server.crash() } }),
  });
  assert.deepEqual({ rounds, lost, doubled }, { rounds: 3, lost: 0, doubled: 0 });
  assert.ok(acknowledged > 0);
});
