import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

test("node:sqlite is read through common/files/sqlite.ts alone, which keeps Node 22 from printing a notice about it", () => {
  const src = join(import.meta.dirname, "..", "..", "..", "src");
  const reading = globSync("**/*.ts", { cwd: src }).filter((file) =>
    /^import (?!type).*"node:sqlite"/m.test(readFileSync(join(src, file), "utf8")),
  );
  // a process of its own, which only Node 24 begins
  assert.deepEqual(reading, [join("sandbox", "sqlProcess.ts")]);
});
