import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Trajectory } from "../../../core/types.ts";
import { type RetriesOptions, retries } from "./retries.ts";

/** Tries with these answers; the last one is paid. */
const tried = (answers: readonly string[], paid: number, more: Partial<Trajectory> = {}): Trajectory =>
  trajectoryOf(
    answers.join(","),
    answers.map((content, k) =>
      turnOf([1], [2], {
        action: { role: "assistant", content },
        rewards: { outcome: k === answers.length - 1 ? paid : 0 },
      }),
    ),
    more,
  );

async function values(trajectories: readonly Trajectory[], options: RetriesOptions = {}) {
  const signals = await retries(options)(ctxOf({}), { trajectories, units: [] }, {});
  return signals.map((s) => (s.kind === "reward" ? s.value : undefined));
}

test("retries is worked by hand: halved for each try before, less half the share of repetitions", async () => {
  const some = [
    tried(["x"], 1), // right at once: 1
    tried(["x", "y"], 1), // 1/2, nothing repeated
    tried(["x", "X ", "y"], 1), // 1/4 − 1/2 · (1 − 2/3) = 1/4 − 1/6
    tried(["x", "x", "x", "x"], 0), // never right: −1/2 · (1 − 1/4)
    tried(["x", "y", "z"], 0), // never right, but varied: 0
  ];
  const want = [1, 1 / 2, 1 / 12, -3 / 8, 0];
  (await values(some)).forEach((got, i) => {
    assert.ok(Math.abs(got! - want[i]!) < 1e-12, `${i}: ${got}, not ${want[i]}`);
  });
});

test("retries: turns without an answer are no repetitions but take time, and what failed is nobody's", async () => {
  const failed = tried(["x", "x"], 0, { end: { kind: "failed", boundary: "environment", message: "" } });
  // nothing to parse: 0; two blanks, then right: 1/4, T = E = 1; no turns at all: 0
  const some = [tried(["", " "], 0), tried(["", "", "x"], 1), trajectoryOf("silent", []), failed];
  assert.deepEqual(
    (await values(some)).map((v) => v! + 0),
    [0, 0.25, 0],
  );
});

test("retries: decay, penalty, rewards and what an answer is can be set", async () => {
  const some = [tried(["x", "xx", "y"], 1)];
  assert.deepEqual(await values(some, { decay: 1, penalty: 0 }), [1]);
  assert.deepEqual(await values(some, { rewards: ["shaped"], answer: () => "same", penalty: 0.75 }), [-0.5]);
});
