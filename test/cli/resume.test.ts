/** Runs cut off from outside, as a person does it: Ctrl-C, kill -9, then --resume. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { inProcess } from "./inProcess.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-resume-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Trains, and sends the signal once that many iterations have been reported. */
function train(
  args: readonly string[],
  cut?: { readonly signal: NodeJS.Signals; readonly after: number },
): Promise<{ code: number | null; signal: string | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, "train", "--json", ...args], { cwd: folder });
    let out = "";
    let err = "";
    let sent = false;
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if (sent || !cut || out.split('{"type":"iteration"').length <= cut.after) return;
      sent = true;
      child.kill(cut.signal);
    });
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("close", (code, signal) => resolve({ code, signal, out, err }));
  });
}

const weights = (out: string): string => readFileSync(join(folder, out, "final", "tabular.json"), "utf8");

test("Ctrl-C and kill -9, each followed by --resume: the weights of an undisturbed run", async () => {
  const args = ["--env", "bandit", "--engine", "tabular", "--iterations", "25", "--learning-rate", "0.1"];
  const calm = await train([...args, "--out", "calm"]);
  assert.equal(calm.code, 0, calm.err);

  const stopped = await train([...args, "--out", "cut"], { signal: "SIGINT", after: 3 });
  assert.equal(stopped.code, 130, stopped.err);
  const last = JSON.parse(stopped.out.trim().split("\n").at(-1)!);
  assert.equal(last.type, "interrupted");
  assert.match(stopped.err, /saved in .*--resume/);

  const killed = await train(["--out", "cut", "--resume"], { signal: "SIGKILL", after: 5 });
  assert.equal(killed.signal, "SIGKILL");
  const lines = killed.out.split("\n").filter((line) => line.includes('"type":"iteration"'));
  assert.equal(JSON.parse(lines[0]!).iteration, last.iteration + 1);

  const resumed = await train(["--out", "cut", "--resume"]);
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(weights("cut"), weights("calm"));
});

test("a run in a folder that cannot be: one line, exit code as documented", async () => {
  const begun = (out: string, ...args: readonly string[]): ReturnType<typeof inProcess> =>
    inProcess(["train", "--json", "--out", join(folder, out), ...args]);
  const nothing = await begun("nothing", "--env", "bandit", "--engine", "tabular", "--resume");
  assert.deepEqual([nothing.code, nothing.err.trim().split("\n").length], [2, 1], nothing.err);
  const other = await begun("calm", "--resume", "--seed", "2");
  assert.deepEqual([other.code, other.err.trim().split("\n").length], [2, 1], other.err);
  assert.match(other.err, /options that differ/);
  const inside = await begun("calm/run.json/x", "--env", "bandit", "--engine", "tabular");
  assert.deepEqual([inside.code, inside.err.trim().split("\n").length], [1, 1], inside.err);
  assert.match(inside.err, /another folder with --out/);
});
