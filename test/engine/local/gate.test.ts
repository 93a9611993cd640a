import assert from "node:assert/strict";
import { test } from "node:test";
import { leave, makeGate, nativeWork, shutGate, shutGateNow } from "../../../src/engine/local/gate.ts";

const pause = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms));

test("a gate shuts once everything inside is outside, and lets nothing in afterwards", async () => {
  const gate = makeGate();
  leave(gate); // native code is loaded
  const native = nativeWork(gate);
  const done: string[] = [];
  const work = (name: string, ms: number) => native(() => pause(ms).then(() => void done.push(name)));
  const both = [work("short", 20), work("long", 60)];
  await shutGate(gate);
  assert.deepEqual(done, ["short", "long"]);
  await Promise.all(both);
  void work("late", 0);
  await pause(30);
  assert.deepEqual(done, ["short", "long"]);
  shutGateNow(gate); // nobody is inside: at once
});

test("work that fails is outside too", async () => {
  const gate = makeGate();
  leave(gate);
  await assert.rejects(
    nativeWork(gate)(() => Promise.reject(new Error("no memory"))),
    /no memory/,
  );
  await shutGate(gate);
});
