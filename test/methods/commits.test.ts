/**
 * Every commit that evidence names can be checked out: it is part of the history. A log may begin with commits that are not, where
 * the check was run again since, at one that is: the protocol takes such a run for the same experiment only if it finds the same.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { arenas } from "../../src/arenas/index.ts";
import { resultFiles } from "../../src/arenas/results.ts";
import { git } from "../../src/cli/checkProtocol.ts";
import { paperFolders } from "../../src/methods/folders.ts";

const root = join(import.meta.dirname, "..", "..");
const isWhole = git(root, "rev-parse", "--is-shallow-repository") === "false";

const commitsIn = (file: string): readonly string[] =>
  [...readFileSync(file, "utf8").matchAll(/"commit": ?"([0-9a-f]+)"/g)].map(([, commit]) => commit!);

test("commits of checks, of their logs and of runs in arenas are ancestors of this one", {
  skip: isWhole ? false : "the history is not here",
}, () => {
  const known = new Set(
    git(root, "rev-list", "HEAD")!
      .split("\n")
      .map((commit) => commit.slice(0, 12)),
  );
  const files = [
    ...paperFolders.flatMap(({ path }) => [join(path, "evidence.json"), join(path, "log.jsonl")]),
    ...arenas.map((arena) => resultFiles(arena).runs),
  ].filter((file) => existsSync(file));
  const named = files.flatMap((file) => commitsIn(file).map((commit) => ({ file, commit })));
  assert.ok(named.length > 1000, `${named.length}`);
  const isKnown = (commit: string): boolean => known.has(commit.slice(0, 12));
  const isAgain = (file: string): boolean => file.endsWith("log.jsonl") && isKnown(commitsIn(file).at(-1)!);
  const lost = named.filter(({ commit, file }) => !isKnown(commit) && !isAgain(file));
  assert.deepEqual([...new Set(lost.map(({ file, commit }) => `${file}: ${commit}`))], []);
});
