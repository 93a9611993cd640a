import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { WhetstoneError } from "../../src/core/errors.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { type RecorderOptions, recorder } from "../../src/store/recorder.ts";
import type { TrafficStore, Write } from "../../src/store/trafficStore.ts";
import { withCode } from "../train/world.ts";
import { onEach } from "./each.ts";
import { all, served, signal } from "./served.ts";

/** A store in memory that writes when it is told to. */
const idIn = (entry: Write): string =>
  entry.kind === "signal" ? entry.signal.id : entry.kind === "traced" ? entry.call.id : entry.response.id;

function gated() {
  const batches: string[][] = [];
  const open: { resolve(): void; reject(e: unknown): void }[] = [];
  const idOf = (entry: Write): string => idIn(entry);
  const write: TrafficStore["write"] = async (batch) => {
    await new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
    batches.push(batch.map(idOf));
    return batch.map((entry) => ({ id: idOf(entry), duplicate: false }));
  };
  /** Lets the write that waits go on, or fail, and what follows from it happen. */
  const end = async (e?: unknown): Promise<void> => {
    while (open.length === 0) await pause(1);
    const waiting = open.shift()!;
    if (e === undefined) waiting.resolve();
    else waiting.reject(e);
    await pause(0);
  };
  return { batches, end, write, waiting: () => open.length };
}

const recorderOn = (write: TrafficStore["write"], options: RecorderOptions = {}) =>
  recorder({ write }, options);
const failure = (code: "store.full" | "store.failed" | "store.erased") =>
  new WhetstoneError(code, { where: "store", got: code, expected: "another", fix: "Mend it." });

test("what arrives while a transaction is written goes into the next one, in its order", async () => {
  const { batches, end, write } = gated();
  const recording = recorderOn(write);
  const first = recording.receive(signal("a"));
  await pause(1);
  const others = [recording.receive(signal("b")), recording.receiveAll([signal("c"), signal("d")])] as const;
  recording.record(served("s", 0));
  assert.equal(recording.state().pending, 5);
  await end();
  assert.deepEqual(await first, { id: "a", duplicate: false });
  await end();
  assert.deepEqual(await Promise.all(others), [
    { id: "b", duplicate: false },
    [
      { id: "c", duplicate: false },
      { id: "d", duplicate: false },
    ],
  ]);
  assert.deepEqual(batches, [["a"], ["response-s-0", "b", "c", "d"]]);
  assert.deepEqual(recording.state(), { pending: 0, recorded: 1, lost: 0 });
});

test("traffic waits for its delay, not longer, and not for ever", async () => {
  const { batches, end, write, waiting } = gated();
  const recording = recorderOn(write, { delay: 100 });
  const begun = performance.now();
  recording.record(served("s", 0));
  recording.record(served("s", 1));
  await pause(0);
  assert.equal(waiting(), 0);
  await end();
  assert.ok(performance.now() - begun >= 99);
  assert.deepEqual(batches, [["response-s-0", "response-s-1"]]);
});

test("traffic that comes while other traffic is written waits for company as well", async () => {
  const { batches, end, write, waiting } = gated();
  const recording = recorderOn(write, { delay: 100 });
  recording.record(served("s", 0));
  while (waiting() === 0) await pause(1);
  recording.record(served("s", 1));
  const since = performance.now();
  await end();
  assert.equal(waiting(), 0);
  recording.record(served("s", 2));
  // a transaction of both, when the delay of the first is over: neither at once nor a whole delay after the write before
  await end();
  assert.ok(performance.now() - since >= 99);
  assert.deepEqual(batches, [["response-s-0"], ["response-s-1", "response-s-2"]]);
});

test("a store that fails: signals are refused, traffic is tried again, all is counted", async () => {
  const { batches, end, write } = gated();
  const lines: string[] = [];
  const recording = recorderOn(write, { delay: 1, limit: 3, log: (line) => lines.push(line) });
  recording.record(served("s", 0));
  const refused = assert.rejects(recording.receive(signal("a")), withCode("store.full"));
  await end(failure("store.full"));
  await refused;
  assert.deepEqual(recording.state(), { pending: 1, recorded: 0, lost: 0, failing: "full" });
  for (let t = 1; t < 5; t++) recording.record(served("s", t));
  assert.deepEqual(recording.state(), { pending: 3, recorded: 0, lost: 2, failing: "full" });
  await end();
  assert.deepEqual(batches, [["response-s-0", "response-s-1", "response-s-2"]]);
  assert.deepEqual(recording.state(), { pending: 0, recorded: 3, lost: 2 });
  assert.deepEqual(
    lines.map((line) => line.split(/[,;:]/)[0]),
    ["the store cannot be written", "the queue is full with 3 responses", "recording resumed"],
  );

  recording.record(served("s", 6));
  const flushed = recording.flush();
  await end(failure("store.failed"));
  await flushed;
  assert.deepEqual(recording.state(), { pending: 0, recorded: 3, lost: 3, failing: "failed" });
});

test("where writing is late, whoever would make more of it waits until it is done; not while the store fails", async () => {
  const { end, write } = gated();
  const recording = recorderOn(write, { delay: 1 });
  assert.equal(recording.late(), undefined);
  recording.record(served("s", 0));
  assert.equal(recording.late(), undefined, "it has just come");
  await pause(30);
  let done = false;
  const late = recording.late()?.then(() => {
    done = true;
  });
  assert.ok(late);
  await pause(5);
  assert.equal(done, false);
  await end();
  await late;
  assert.equal(recording.late(), undefined);

  recording.record(served("s", 1));
  await pause(30);
  await end(failure("store.failed"));
  assert.equal(recording.late(), undefined);
  await end();
});

test("what waits is bounded by all that it holds, not by its texts alone", async () => {
  const { end, write } = gated();
  const recording = recorderOn(write, { delay: 1, characters: 20_000 });
  const long = "x".repeat(12_000);
  const message = { role: "assistant" as const, content: "" };
  const called = { ...message, toolCalls: [{ id: "c", name: "write", arguments: long }] };
  recording.record(served("a", 0, { choices: [{ message: called, stop: "eos" }] }));
  recording.record(served("b", 0, { settings: { response_format: { description: long } } }));
  const tools = [{ name: "t", description: long, parameters: {} }];
  recording.record(served("c", 0, { prompt: [{ role: "user", content: "", tools }] }));
  assert.deepEqual(recording.state(), { pending: 1, recorded: 0, lost: 2 });
  await end();
});

test("whoever waits for what was taken waits for that alone, and a store that fails costs nothing", async () => {
  const { end, write, batches } = gated();
  const recording = recorderOn(write, { delay: 1 });
  recording.record(served("s", 0));
  const tried = recording.tried();
  recording.record(served("s", 1)); // more comes all the time
  await end();
  await tried;
  assert.deepEqual(batches, [["response-s-0"]]);
  const again = recording.tried();
  await end(failure("store.failed"));
  await again;
  assert.deepEqual(recording.state(), { pending: 1, recorded: 1, lost: 0, failing: "failed" });
  await end();
  assert.deepEqual(batches.at(-1), ["response-s-1"]);
  assert.equal(recording.state().lost, 0);
  await recording.tried();
});

test("one of many to blame is found in few transactions", async () => {
  let transactions = 0;
  const written: string[] = [];
  const recording = recorderOn(async (batch) => {
    transactions++;
    const ids = batch.map((entry) => idIn(entry));
    if (ids.includes("response-gone-77")) throw failure("store.erased");
    written.push(...ids);
    return ids.map((id) => ({ id, duplicate: false }));
  });
  for (let t = 0; t < 200; t++) recording.record(served(t === 77 ? "gone" : "s", t));
  await recording.flush();
  assert.deepEqual(
    written,
    Array.from({ length: 200 }, (_, t) => `response-s-${t}`).filter((_, t) => t !== 77),
  );
  assert.deepEqual(recording.state(), { pending: 0, recorded: 199, lost: 1 });
  assert.ok(transactions < 20, `${transactions} transactions`);
});

test("one entry to blame holds nobody else up", async () => {
  const written: string[] = [];
  const recording = recorderOn(async (batch) => {
    const ids = batch.map((entry) => idIn(entry));
    if (ids.includes("gone")) throw failure("store.erased");
    written.push(...ids);
    return ids.map((id) => ({ id, duplicate: false }));
  });
  const good = [recording.receive(signal("a")), recording.receive(signal("b"))];
  await assert.rejects(recording.receive(signal("gone")), withCode("store.erased"));
  await Promise.all(good);
  assert.deepEqual(written, ["a", "b"]);
  await assert.rejects(recording.receive(signal("nul\0")), withCode("store.refused", /NUL/));
  await assert.rejects(
    recording.receive(signal("a", { value: Number.NaN })),
    withCode("store.refused", /value: got NaN/),
  );
  recording.record(served("s".repeat(600), 0));
  recording.record(served("s", 0, { turn: 0.5 }));
  assert.equal(recording.state().lost, 2);
  assert.equal(recording.state().failing, undefined);
});

onEach("recorded is on disk after a flush, acknowledged at once", async (where) => {
  const store = await openTrafficStore(where);
  const recording = recorder(store);
  recording.record(served("s", 0));
  await recording.recordDurably(served("s", 1));
  const given = await Promise.all([
    recording.receive(signal("a", { key: "k" })),
    recording.receive(signal("b", { key: "k" })),
  ]);
  assert.deepEqual(given, [
    { id: "a", duplicate: false },
    { id: "a", duplicate: true },
  ]);
  await recording.close();
  const again = await openTrafficStore(where);
  assert.equal((await all(again.responses())).length, 2);
  assert.equal((await all(again.signals())).length, 1);
  await again.close();
  await store.close();
});

test("what no store can keep is counted and logged with the reason, without its text", () => {
  const lines: string[] = [];
  const recording = recorderOn(async () => [], { log: (line) => void lines.push(line) });
  recording.record(served("s", 0, { model: "secret\0name" }));
  recording.record(served("s", 1, { model: "m".repeat(600) }));
  assert.equal(recording.state().lost, 2);
  assert.equal(lines.length, 2);
  assert.match(lines[0]!, /^not recorded.*response: model: got a NUL character/);
  assert.match(lines[1]!, /600 characters/);
  assert.doesNotMatch(lines.join(), /secret/);
});
