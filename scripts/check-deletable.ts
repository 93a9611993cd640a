/**
 * Deletes papers' folders in a copy of the repository, one at a time: the rest must type-check, and its tests must pass.
 *
 *     node scripts/check-deletable.ts                 # all papers: types only
 *     node scripts/check-deletable.ts --sample 2      # a number of papers, chosen by commit: types, and the tests that list methods
 *     node scripts/check-deletable.ts igpo --whole    # the named papers: types, and all tests
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { randomStream, shuffled } from "../src/core/random.ts";
import { paperFolders } from "../src/methods/folders.ts";

const { values, positionals } = parseArgs({
  options: { sample: { type: "string" }, whole: { type: "boolean", default: false } },
  allowPositionals: true,
});
const root = resolve(import.meta.dirname, "..");
const copy = mkdtempSync(join(tmpdir(), "whetstone-deleted-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: copy, encoding: "utf8", stdio: "pipe", maxBuffer: 1 << 28 });

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1 << 26,
});
for (const file of files.split("\n").filter((name) => name !== "" && existsSync(join(root, name)))) {
  cpSync(join(root, file), join(copy, file), { recursive: true, errorOnExist: false });
}
// benches compare papers that they name; the browser's page has types of its own
writeFileSync(
  join(copy, "tsconfig.deleted.json"),
  JSON.stringify({
    extends: "./tsconfig.json",
    include: ["src", "test", "scripts", "examples"],
    exclude: ["test/bench", "examples/browser"],
  }),
);
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

/** All except the baselines, which other papers are compared with. */
const papers = paperFolders.filter(({ family }) => family !== "baseline");
const commit = execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd: root, encoding: "utf8" });
const chosen =
  values.sample === undefined
    ? papers.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
    : shuffled(papers, randomStream(Number(commit))).slice(0, Number(values.sample));
const tested = values.whole ? [] : ["test/method", "test/serve/dashboard", "test/docs", "test/scripts"];
const tests = values.whole || values.sample !== undefined;
let broken = 0;
for (const { id, path } of chosen) {
  const folder = join(copy, relative(root, path));
  const aside = join(copy, "..", `${id}-${process.pid}`);
  renameSync(folder, aside);
  try {
    run(join(root, "node_modules", ".bin", "tsc"), "-p", "tsconfig.deleted.json", "--noEmit");
    run(process.execPath, "scripts/methods-doc.ts");
    if (tests) run(process.execPath, "scripts/test.ts", ...tested);
    console.log(`without ${id}: ${tests ? "types and tests" : "types"} pass`);
  } catch (e) {
    broken++;
    const { stdout = "", stderr = "" } = e as { stdout?: string; stderr?: string };
    const said = `${stdout}${stderr}`.trim() || String(e);
    console.error(`without ${id}:\n${said.split("\n").slice(-40).join("\n")}`);
  } finally {
    renameSync(aside, folder);
  }
}
console.log(
  `${chosen.length} of ${papers.length} papers were deleted, one at a time: ${broken} of them broke the rest`,
);
if (broken > 0) process.exitCode = 1;
