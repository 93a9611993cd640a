import assert from "node:assert/strict";
import { test } from "node:test";
import { gate } from "../../../src/engine/tinker/gate.ts";

test("so many bytes are on their way at most; what is larger goes alone; first come, first served", async () => {
  const door = gate(10);
  const log: string[] = [];
  const pending = new Map<string, () => void>();
  const send = (name: string, bytes: number) =>
    door.through(bytes, () => {
      log.push(name);
      return new Promise<void>((done) => pending.set(name, done));
    });
  const settle = () => new Promise((go) => setImmediate(go));
  const end = async (name: string) => {
    pending.get(name)?.();
    await settle();
  };
  const all = [send("a", 6), send("b", 4), send("c", 1), send("huge", 99), send("d", 1)];
  await settle();
  assert.deepEqual(log, ["a", "b"]);
  await end("b"); // 4 are free: c fits, the huge one waits for all of them, and d behind it
  assert.deepEqual(log, ["a", "b", "c"]);
  await end("a");
  assert.deepEqual(log, ["a", "b", "c"]);
  await end("c");
  assert.deepEqual(log, ["a", "b", "c", "huge"]);
  await end("huge");
  await end("d");
  assert.deepEqual(log, ["a", "b", "c", "huge", "d"]);
  await Promise.all(all);
});

test("work that fails makes room as well", async () => {
  const door = gate(1);
  await assert.rejects(
    door.through(1, () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(await door.through(1, async () => "in"), "in");
});
