/** kill -9 at any moment: the run that goes on ends with the bytes of one that was never disturbed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { ChildOptions, Moment } from "./child.ts";
import { engines, folder, runIn, settings, type Trace, traceOf } from "./world.ts";

const script = fileURLToPath(new URL("./child.ts", import.meta.url));

function child(options: ChildOptions): Promise<{ signal: string | null; code: number | null; err: string }> {
  return new Promise((resolve) => {
    const running = spawn(process.execPath, [script, JSON.stringify(options)]);
    let err = "";
    running.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    running.on("close", (code, signal) => resolve({ code, signal, err }));
  });
}

const upTo = (most: number): number => 1 + Math.floor(Math.random() * most);
const playedIn = (root: string): string[] => {
  const file = join(root, "played.log");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};

const undisturbed = new Map<string, Promise<Trace>>();
/** What a run that nobody kills leaves behind: of each kind one, which all are compared with. */
function calmTrace(name: keyof typeof engines, staleness: number): Promise<Trace> {
  const key = `${name} ${staleness}`;
  const known = undisturbed.get(key);
  if (known) return known;
  const made = (async () => {
    const root = folder();
    const engine = engines[name]();
    await runIn(root, { ...settings(name, engine), staleness });
    await engine.dispose();
    return traceOf(root);
  })();
  undisturbed.set(key, made);
  return made;
}

/** Kills a run at each of these moments in turn, resuming it every time, then lets it end. */
async function killed(
  name: keyof typeof engines,
  kills: readonly { at: Moment; count: number }[],
  checkpointSeconds: number,
  lastSeconds = checkpointSeconds,
  staleness = 0,
): Promise<void> {
  const expected = await calmTrace(name, staleness);
  const root = folder();
  const options = { engine: name, root, concurrency: 4, checkpointSeconds, staleness };
  const said = `${name}, killed at ${kills.map((k) => `${k.at} ${k.count}`).join(", ")}`;
  for (const [i, kill] of kills.entries()) {
    const ended = await child({ ...options, resume: i > 0, kill });
    assert.equal(ended.signal, "SIGKILL", `${said}: ${i} ended with ${ended.code} ${ended.err}`);
  }
  const ended = await child({ ...options, checkpointSeconds: lastSeconds, resume: kills.length > 0 });
  assert.equal(ended.code, 0, `${said}: ${ended.err}`);
  const trace = await traceOf(root);
  assert.equal(trace.weights, expected.weights, said);
  assert.deepEqual(trace, expected, said);
  const played = playedIn(root);
  assert.equal(new Set(played).size, 4 * 12, "four iterations of three tasks and four attempts");
  // the journal has what was finished: only what was under way is played again, four at a time at most
  const again = played.length - new Set(played).size;
  const cut = kills.filter((k) => staleness > 0 || k.at === "episode").length;
  assert.ok(again <= 4 * cut, `${said}: ${again} episodes were played again`);
}

test("local: killed where weights are about to change or to be saved", () =>
  killed(
    "local",
    [
      { at: "step", count: upTo(4) },
      { at: "accumulate", count: upTo(3) },
      { at: "checkpoint", count: upTo(20) },
    ],
    0,
  ));

test("tabular: killed again and again, saving after each iteration", () =>
  killed(
    "tabular",
    [
      { at: "demonstration", count: upTo(6) },
      { at: "begin", count: upTo(6) },
      { at: "episode", count: upTo(12) },
      { at: "validation", count: upTo(6) },
      { at: "checkpoint", count: upTo(20) },
    ],
    0,
  ));

test("tabular: a run behind its journal plays nothing again, though it saves on the way", () =>
  killed("tabular", [{ at: "episode", count: 40 }], 1000, 0));

test("tabular: killed long after the last checkpoint, the store keeps nothing of what was undone", () =>
  killed(
    "tabular",
    [
      { at: "step", count: 3 },
      { at: "episode", count: 24 + upTo(12) },
      { at: "accumulate", count: 2 + upTo(4) },
    ],
    1000,
  ));

test("tabular: killed while rollouts run ahead of learning, before and after checkpoints", async () => {
  await killed(
    "tabular",
    [
      { at: "episode", count: 1 + upTo(20) },
      { at: "accumulate", count: upTo(3) },
      { at: "checkpoint", count: upTo(60) },
    ],
    0,
    0,
    2,
  );
  await killed("tabular", [{ at: "accumulate", count: 3 + upTo(3) }], 1000, 0, 1);
});
