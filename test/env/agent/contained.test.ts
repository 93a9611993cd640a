import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "untidy.ts"), ...args], { encoding: "utf8" });

test("agent: a promise that it leaves lying fails its own episode, not the process", () => {
  const { status, stdout } = run();
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(stdout), {
    kind: "failed",
    boundary: "environment",
    message: "the agent threw: left lying",
  });
});

test("contained leaves the rejections of others as deadly as they are", () => {
  const { status, stderr } = run("foreign");
  assert.equal(status, 1);
  assert.match(stderr, /somebody else's/);
});
