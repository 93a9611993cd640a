import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Model } from "../../../core/model.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { overlong } from "./overlong.ts";

/** A trajectory whose sequence is so many tokens long in its second turn. */
const long = (id: string, tokens: number, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(
    id,
    [
      turnOf([1], [2]),
      turnOf(
        Array.from({ length: tokens - 2 }, () => 1),
        [2, 3],
      ),
    ],
    more,
  );

async function penalties(
  trajectories: Trajectory[],
  model: Model,
  options: Parameters<typeof overlong>[0] = {},
) {
  const signals = await overlong(options)(ctxOf({ model: () => model }), { trajectories, units: [] }, {});
  return signals.map((s) => [s.about[0]!.trajectory, s.channel, s.kind === "reward" ? s.value : undefined]);
}

test("overlong is worked by hand: free up to 80 of 100 tokens, then a twentieth per token, at most 1", async () => {
  const model = await tabularEngine().create({
    id: "policy",
    seed: 1,
    vocabulary: ["a"],
    contextTokens: 100,
  });
  const some = [long("a", 80), long("b", 85), long("c", 100), long("d", 130)];
  assert.deepEqual(await penalties(some, model), [
    ["b", "length", -0.25],
    ["c", "length", -1],
    ["d", "length", -1],
  ]);
  assert.deepEqual(await penalties(some, model, { limit: 90, buffer: 10, channel: "x" }), [
    ["b", "x", -0.5],
    ["c", "x", -1],
    ["d", "x", -1],
  ]);
});

test("overlong: what a token limit cut pays in full, what failed or never acted pays nothing", async () => {
  const model = await tabularEngine().create({
    id: "policy",
    seed: 1,
    vocabulary: ["a"],
    contextTokens: 100,
  });
  const cut = long("cut", 50, { end: { kind: "truncated", limit: "tokens", at: 99 } });
  const turns = long("turns", 50, { end: { kind: "truncated", limit: "turns", at: 2 } });
  const failed = long("failed", 100, { end: { kind: "failed", boundary: "environment", message: "" } });
  const silent = trajectoryOf("silent", []);
  assert.deepEqual(await penalties([cut, turns, failed, silent], model), [["cut", "length", -1]]);
});
