import assert from "node:assert/strict";
import { test } from "node:test";
import { futures } from "../../../src/serve/tinker/futures.ts";
import { turns } from "../../../src/serve/tinker/turns.ts";

test("operations run in the order of their numbers, each once, however they arrive", async () => {
  const line = turns();
  const ran: number[] = [];
  const work = (n: number) => async (): Promise<void> => {
    await Promise.resolve();
    ran.push(n);
  };
  assert.deepEqual(line.take(2, "b", "r2", work(2)), { kind: "new", request: "r2" });
  assert.deepEqual(line.take(3, "c", "r3", work(3)), { kind: "new", request: "r3" });
  assert.equal(line.waiting, 2);
  assert.deepEqual(line.take(2, "b", "again", work(2)), { kind: "again", request: "r2" });
  assert.deepEqual(line.take(2, "other", "again", work(2)), { kind: "clash" });
  assert.deepEqual(line.take(1, "a", "r1", work(1)), { kind: "new", request: "r1" });
  assert.deepEqual(line.take(0, "z", "r0", work(0)), { kind: "clash" });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ran, [1, 2, 3]);
  assert.equal(line.waiting, 0);
  assert.deepEqual(line.take(1, "a", "late", work(1)), { kind: "again", request: "r1" });
});

test("results wait for whoever asks; old ones make room and say so", async () => {
  const all = futures("x", 1);
  const first = all.open();
  assert.deepEqual(await all.poll(first.id, 1), { kind: "pending" });
  const waiting = all.poll(first.id, 10_000);
  await first.settle(async () => ({ kind: "json", json: 1 }));
  assert.deepEqual(await waiting, { kind: "json", json: 1 });
  const second = all.open();
  await second.settle(async () => {
    throw new Error("broken");
  });
  assert.deepEqual(await all.poll(second.id, 1), {
    kind: "failed",
    fault: { error: "broken", category: "server" },
  });
  assert.deepEqual(await all.poll(first.id, 1), { kind: "gone" });
  assert.deepEqual(await all.poll("x-99", 1), { kind: "unknown" });
  assert.deepEqual(await all.poll("of-another-server-1", 1), { kind: "unknown" });
});
