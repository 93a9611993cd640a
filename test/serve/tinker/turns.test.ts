import assert from "node:assert/strict";
import { test } from "node:test";
import { futures } from "../../../src/serve/tinker/futures.ts";
import { turns } from "../../../src/serve/tinker/turns.ts";

const rest = () => new Promise((resolve) => setImmediate(resolve));

test("operations run in the order of their numbers, each once, however they arrive", async () => {
  const line = turns();
  const ran: number[] = [];
  const begin = (n: number) => () => ({
    request: `r${n}`,
    work: async (): Promise<void> => {
      await Promise.resolve();
      ran.push(n);
    },
  });
  const never = (): never => assert.fail("begun again");
  assert.deepEqual(line.take(2, "b", begin(2)), { kind: "new", request: "r2" });
  assert.deepEqual(line.take(3, "c", begin(3)), { kind: "new", request: "r3" });
  assert.deepEqual([line.isNext(1), line.isNext(4), line.isNext(undefined)], [true, false, true]);
  assert.deepEqual(line.take(2, "b", never), { kind: "again", request: "r2" });
  assert.deepEqual(line.take(2, "other", never), { kind: "clash" });
  assert.deepEqual(line.take(1, "a", begin(1)), { kind: "new", request: "r1" });
  assert.deepEqual(line.take(0, "z", never), { kind: "clash" });
  await rest();
  assert.deepEqual(ran, [1, 2, 3]);
  assert.deepEqual(line.take(1, "a", never), { kind: "again", request: "r1" });
});

test("operations that can not run any more are told so: those in the line, and those whose forerunner never came", async () => {
  const line = turns();
  const told: [number, boolean][] = [];
  const first = Promise.withResolvers<void>();
  const begin = (n: number) => () => ({
    request: `r${n}`,
    work: async (over: boolean): Promise<void> => {
      told.push([n, over]);
      if (n === 1) await first.promise;
    },
  });
  for (const n of [1, 2, 4]) line.take(n, `${n}`, begin(n));
  await rest();
  const closed = line.close();
  await rest();
  assert.deepEqual(told, [[1, false]]); // it runs, and is waited for
  first.resolve();
  await closed;
  assert.deepEqual(told.slice(1), [
    [2, true],
    [4, true],
  ]);
});

const few = { results: 1, resultBytes: 100, pending: 2, pendingBytes: 100 };

test("results wait for whoever asks; old ones make room and say so", async () => {
  const all = futures("x", few);
  const first = all.open(0);
  assert.deepEqual(await all.poll(first.id, 1), { kind: "pending" });
  const waiting = all.poll(first.id, 10_000);
  await first.settle(async () => ({ kind: "json", json: 1 }));
  assert.deepEqual(await waiting, { kind: "json", json: 1 });
  const second = all.open(0);
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

test("results are kept up to so many bytes, the last one in any case; what waits has bounds too", async () => {
  const all = futures("x", { ...few, results: 10 });
  const settled = async (bytes: number): Promise<string> => {
    const { id, settle } = all.open(bytes);
    await settle(async () => ({ kind: "protobuf", bytes: new Uint8Array(bytes), json: () => ({}) }));
    return id;
  };
  const kinds = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await all.poll(id, 1)).kind));
  const ids = [await settled(40), await settled(40), await settled(40)];
  assert.deepEqual(await kinds(ids), ["gone", "protobuf", "protobuf"]);
  ids.push(await settled(200));
  assert.deepEqual(await kinds(ids), ["gone", "gone", "gone", "protobuf"]);

  assert.equal(all.full, false);
  const large = all.open(100);
  assert.equal(all.full, true);
  await large.settle(async () => ({ kind: "json", json: 1 }));
  assert.equal(all.full, false);
  all.open(0);
  all.open(0);
  assert.equal(all.full, true);
});
