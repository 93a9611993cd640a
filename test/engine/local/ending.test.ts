/** A process may end at any moment, also while the engine thread computes: with its own exit code, and not by an abort. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./endingChild.ts", import.meta.url));

const ended = (how: string, ms: number): Promise<{ readonly code: unknown; readonly err: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [script, how, `${ms}`], { timeout: 60_000 }, (e, _out, err) =>
      resolve({ code: e?.signal ?? e?.code, err }),
    );
  });

for (const how of ["exit", "throw", "dispose"]) {
  test(`a process that ends by ${how} while the engine thread is anywhere keeps its exit code`, async () => {
    // before the thread has loaded, while it loads native code, compiles a graph, computes
    for (const moments of [
      [50, 150],
      [180, 220],
      [270, 350],
    ])
      for (const { code, err } of await Promise.all(moments.map((ms) => ended(how, ms))))
        assert.equal(code, 3, err);
  });
}
