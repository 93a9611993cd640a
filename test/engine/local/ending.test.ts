/** A process may end at any moment, also while the engine thread computes: with its own exit code, and not by an abort. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./endingChild.ts", import.meta.url));

/** @param since the start of the process, or the first sample. */
const ended = (how: string, since: "start" | "work", ms: number) =>
  new Promise<{ readonly code: unknown; readonly err: string }>((resolve) => {
    execFile(process.execPath, [script, how, since, `${ms}`], { timeout: 60_000 }, (e, _out, err) =>
      resolve({ code: e?.signal ?? e?.code, err }),
    );
  });

test("a process that ends while the engine thread loads keeps its exit code", async () => {
  for (const ms of [90, 200])
    for (const { code, err } of await Promise.all([ended("exit", "start", ms), ended("throw", "start", ms)]))
      assert.equal(code, 3, err);
});

for (const how of ["exit", "throw", "dispose"]) {
  test(`a process that ends by ${how} while the engine thread computes keeps its exit code`, async () => {
    for (const ms of [1])
      for (const { code, err } of await Promise.all([ended(how, "work", ms), ended(how, "work", ms + 4)]))
        assert.equal(code, 3, err);
  });
}
