/** `train --engine chat` against a provider: what is shown, what bounds it, and that nothing is paid for twice. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { codebreaker, scriptedKey, scriptedProvider } from "../train/scriptedProvider.ts";
import { inProcess } from "./inProcess.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-talking-"));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true, force: true });
});
process.env.SCRIPTED_KEY = scriptedKey;

writeFileSync(
  join(folder, "config.ts"),
  `import { codewords } from ${JSON.stringify(new URL("../../src/env/codewords.ts", import.meta.url).href)};
const env = codewords({ questions: 12, same: true, says: true, length: 2, vocabulary: 3 });
export default { env, engine: "chat", method: "gepa", iterations: 4, evaluation: { tasks: 4, every: 0 } };\n`,
);
const codes = ["train", "config.ts", "--model", "tiny", "--key-env", "SCRIPTED_KEY"];
const told = (out: string): string => readFileSync(join(folder, out, "artefact", "system.md"), "utf8");

/** Calls that were paid, and those that were not, as the last line about them says. */
function spendIn(err: string): { readonly calls: number; readonly cached: number; readonly line: string } {
  const [line, calls, cached] =
    [...err.matchAll(/(\d+) calls \((\d+) more from the cache\).*/g)].at(-1) ?? [];
  assert.ok(line !== undefined, err);
  return { calls: Number(calls), cached: Number(cached), line };
}

/** The command as a process of its own, which the provider's n-th answer kills. */
function killedAt(n: number, args: readonly string[], whenPaid: (heard: (count: number) => void) => void) {
  return new Promise<NodeJS.Signals | null>((resolve) => {
    const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: "ignore" });
    whenPaid((count) => {
      if (count === n) child.kill("SIGKILL");
    });
    child.on("close", (_code, signal) => resolve(signal));
  });
}

test("a run says what it spent; the same run again is told from the cache, and costs nothing", async () => {
  const { url, paid } = await scriptedProvider(codebreaker);
  // ten tokens read and five written are two cents
  const args = [...codes, "--url", url, "--price", "1000,2000", "--cache", "replies"];
  const first = await inProcess([...args, "--out", "first"]);
  assert.equal(first.code, 0, first.err);
  assert.match(told("first"), /not w\d at \d/);
  const { calls, cached, line } = spendIn(first.err + first.out);
  assert.deepEqual([calls, cached], [paid.length, 0]);
  assert.equal(new Set(paid).size, paid.length, "nothing is asked twice");
  assert.ok(
    line.endsWith(`${10 * calls} tokens read, ${5 * calls} written, $${(0.02 * calls).toFixed(2)}`),
    line,
  );

  const again = await inProcess([...args, "--out", "again"]);
  assert.equal(again.code, 0, again.err);
  assert.equal(paid.length, calls, "nobody was asked");
  assert.deepEqual(spendIn(again.err + again.out), {
    calls: 0,
    cached: calls,
    line: `0 calls (${calls} more from the cache), 0 tokens read, 0 written`,
  });
  assert.equal(told("again"), told("first"));
});

test("killed, then out of calls, then with more: limits and cache are kept, hold for the whole run, and can be raised", async () => {
  const calm = await scriptedProvider(codebreaker);
  const whole = await inProcess([...codes, "--url", calm.url, "--cache", "calm-replies", "--out", "calm"]);
  assert.equal(whole.code, 0, whole.err);

  const { url, paid, whenPaid } = await scriptedProvider(codebreaker);
  const limited = ["--url", url, "--cache", "rough-replies", "--max-calls", "30", "--out", "rough"];
  assert.equal(await killedAt(12, [...codes, ...limited], whenPaid), "SIGKILL");
  const poor = await inProcess(["train", "--out", "rough", "--resume"]);
  assert.equal(poor.code, 1, poor.err);
  assert.match(poor.err, /calls of 30 used.*Raise the limit and resume/);
  assert.ok(paid.length > 12 && paid.length <= 30, `${paid.length} calls`);
  const spent = paid.length;
  const none = await inProcess(["train", "--out", "rough", "--resume"]);
  assert.deepEqual([none.code, paid.length], [1, spent], "the limit is that of the run");
  const few = await inProcess([
    "train",
    "--out",
    "rough",
    "--resume",
    "--max-calls",
    "1000",
    "--max-tokens",
    "10",
  ]);
  assert.equal(few.code, 1, few.err);
  assert.match(few.err, /\d+ tokens of 10 used/);
  assert.equal(paid.length, spent, "no request that the limit does not bear");

  const rich = await inProcess(["train", "--out", "rough", "--resume", "--max-tokens", "10000000"]);
  assert.equal(rich.code, 0, rich.err);
  assert.equal(told("rough"), told("calm"));
  assert.deepEqual(new Set(paid), new Set(calm.paid), "the same questions");
  // eight requests at a time: the kill may cut replies that were on their way, and nothing else
  assert.ok(paid.length - new Set(paid).size <= 8, `${paid.length} requests`);
  const { calls } = spendIn(rich.err + rich.out);
  assert.ok(calls >= paid.length && calls <= paid.length + 8, `${calls} of ${paid.length} are counted`);
  assert.equal(
    JSON.parse(readFileSync(join(folder, "rough", "run.json"), "utf8")).adjustable.parts.maxCalls,
    1000,
  );
});

test("nobody at the address, then a key that is refused: a line each and nothing charged; corrected, the run goes on", async () => {
  const { url, paid } = await scriptedProvider(codebreaker);
  const began = performance.now();
  const away = [...codes, "--url", "http://127.0.0.1:1/v1", "--cache", "late-replies", "--out", "late"];
  const nobody = await inProcess(away);
  assert.equal(nobody.code, 1);
  assert.match(
    nobody.err,
    /^whetstone: http:\/\/127\.0\.0\.1:1\/v1\S*: could not connect\. Check the address/m,
  );
  assert.equal(nobody.err.trim().split("\n").length, 1, nobody.err);
  // nothing was done that a run could go on from
  assert.doesNotMatch(nobody.out, /interrupted|\.chat/);
  const listed = await inProcess(["runs", "--store", "whetstone.sqlite"]);
  assert.match(listed.out, /late +– +failed .*late failed: http:\S*: could not connect\./s);
  assert.equal(
    spendIn(nobody.err + nobody.out).line,
    "0 calls (0 more from the cache), 0 tokens read, 0 written",
  );

  process.env.WRONG_KEY = "nobody's";
  const refused = await inProcess([
    "train",
    "--out",
    "late",
    "--resume",
    "--url",
    url,
    "--key-env",
    "WRONG_KEY",
  ]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /401.*Check the key in WRONG_KEY/);
  assert.equal(spendIn(refused.err + refused.out).calls, 0);
  assert.ok(performance.now() - began < 30_000);
  assert.equal(paid.length, 0);

  // the corrected address is kept with the run
  const right = await inProcess(["train", "--out", "late", "--resume", "--key-env", "SCRIPTED_KEY"]);
  assert.equal(right.code, 0, right.err);
  assert.equal(spendIn(right.err + right.out).calls, paid.length);
});

test("Ctrl-C does not wait for replies under way", async () => {
  const silent = createServer(() => {}).listen(0);
  const address = silent.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;
  const asked = new Promise((go) => silent.once("request", go));
  const child = spawn(process.execPath, [main, ...codes, "--url", url, "--out", "silent"], { cwd: folder });
  const ended = new Promise((go) => child.on("close", go));
  await asked;
  const began = performance.now();
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.ok(performance.now() - began < 10_000);
  silent.closeAllConnections();
  silent.close();
});
