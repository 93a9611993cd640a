import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";

const listening = `
import { onSignal } from ${JSON.stringify(new URL("../../src/cli/interrupted.ts", import.meta.url).href)};
setInterval(() => {}, 1000);
onSignal(() => console.log("ending"));
console.log("ready");`;
const pause = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms));

test("a signal that comes twice, as npm passes it on, ends the work once; a later one ends the process", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", listening]);
  const ended = new Promise<NodeJS.Signals | null>((go) => child.on("exit", (_code, signal) => go(signal)));
  const lines: string[] = [];
  const said = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  await new Promise((go) => said.once("line", go));
  child.kill("SIGINT");
  await pause(100);
  child.kill("SIGINT");
  await pause(700);
  assert.deepEqual(lines, ["ready", "ending"]);
  assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  child.kill("SIGTERM");
  assert.equal(await ended, "SIGTERM");
});

const working = `
import { untilInterrupted } from ${JSON.stringify(new URL("../../src/cli/interrupted.ts", import.meta.url).href)};
const io = { say() {}, error: (line) => console.log(line), code: 0 };
console.log("ready");
await untilInterrupted(io, () => new Promise((go) => setTimeout(go, 1000)));
process.exit(io.code);`;

test("work that ends by itself after a signal still counts as interrupted, and the wait is explained", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", working]);
  const ended = new Promise<number | null>((go) => child.on("exit", go));
  const lines: string[] = [];
  const said = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  await new Promise((go) => said.once("line", go));
  await pause(200);
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.match(lines[1]!, /Press Ctrl-C again to end at once/);
});

const stuck = `
import { onSignal } from ${JSON.stringify(new URL("../../src/cli/interrupted.ts", import.meta.url).href)};
onSignal(() => console.log("ending"));
process.stdout.write("ready\\n");
for (;;);`;

test("code that does not return hears no signal, and SIGQUIT ends it", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", stuck]);
  const ended = new Promise<NodeJS.Signals | null>((go) => child.on("exit", (_code, signal) => go(signal)));
  await new Promise((go) => createInterface({ input: child.stdout }).once("line", go));
  child.kill("SIGINT");
  await pause(300);
  assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  child.kill("SIGQUIT");
  assert.equal(await ended, "SIGQUIT");
});
