/** One check of many that cannot run does not end the others, in a copy of the repository whose first check is not committed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { checkFiles } from "../../src/cli/checkFiles.ts";
import { git } from "../../src/cli/checkProtocol.ts";
import { readEvidence } from "../../src/methods/evidence.ts";
import { temporary } from "../temporary.ts";

test("check: where one of many cannot be judged the others are, all is told, and the exit code says so", () => {
  // the quickest check, and any that comes before it
  const [first, ...rest] = checkFiles();
  const seconds = (id: string): number => readEvidence(id)?.seconds ?? Number.POSITIVE_INFINITY;
  const [quick] = rest.sort((a, b) => seconds(a.id) - seconds(b.id));
  assert.ok(first && quick);

  const folder = mkdtempSync(join(temporary, "whetstone-check-"));
  for (const path of ["src", "package.json"]) cpSync(resolve(path), join(folder, path), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"), "junction");
  git(folder, "init", "-q");
  git(folder, "add", "src", "package.json");
  git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "all");
  appendFileSync(join(folder, relative(".", first.path), "check.ts"), "// changed since\n");

  const args = ["src/cli/main.ts", "check", first.id, quick.id, "--seed", "100", "--threads", "1"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });

  assert.match(stderr, new RegExp(`^${first.id} failed: .*/check\\.ts, which is not committed`, "m"));
  assert.match(stderr, /^1 of 2 checks left$/m);
  assert.match(stdout, new RegExp(`^[a-z ]+ ${quick.id} .* seeds, `));
  assert.equal(status, 2);
  const log = readFileSync(join(folder, relative(".", quick.path), "log.jsonl"), "utf8");
  assert.match(log.trim().split("\n").at(-1) ?? "", /"event":"end".*"seed":100/);
});
