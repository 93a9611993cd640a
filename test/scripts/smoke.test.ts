// The smoke run of methods, on a few: what it prints, what it leaves out, what it samples.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";

/** What the script printed, and its exit status. */
async function smoke(...args: readonly string[]) {
  const child = spawn(process.execPath, ["scripts/smoke-methods.ts", ...args], { cwd: process.cwd() });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    errors += text;
  });
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { out, errors, status };
}

test("methods train a transformer until all that they step has moved twice; others say why they do not", async () => {
  const { out, errors, status } = await smoke("sft", "dpo", "best-of-n", "gepa");
  assert.match(out, /^sft +[\d.]+ s {2}ok in lamps: 2 iterations; gradient policy [\d.e-]+$/m);
  assert.match(out, /^dpo +[\d.]+ s {2}ok in preference-game: .*gradient policy [\d.e-]+$/m);
  assert.match(out, /^best-of-n +skipped: it selects among samples/m);
  assert.match(out, /2 of 2 methods made two updates in \d+ s; 2 skipped, 0 not sampled\.\n$/);
  assert.deepEqual([status, errors], [0, ""]);
});

test("a sample is evenly spaced, and another seed takes others", async () => {
  const three = ["sft", "rloo", "reinforce"];
  const sampled = async (seed: string) =>
    (await smoke("--sample", "1", "--seed", seed, ...three)).out.match(/^\S+(?= .* ok in)/gm);
  const seen = new Set((await Promise.all(["1", "2", "3"].map(sampled))).flat());
  assert.deepEqual([...seen].sort(), [...three].sort());
});

test("what cannot be meant is refused", async () => {
  const { status, errors } = await smoke("--sample", "few");
  assert.equal(status, 2);
  assert.match(errors, /--sample needs a whole number from 1, not "few"/);
  const unknown = await smoke("grop");
  assert.match(unknown.errors, /grpo/);
  assert.equal(unknown.status, 1);
});
