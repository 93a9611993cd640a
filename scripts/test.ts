/**
 * Runs the test files under test/ (or the files and folders given) with Node's own runner, and prints its totals
 * last, below any list of failures.
 */
import { spawn } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

const asked = process.argv.slice(2);
const options = asked.filter((a) => a.startsWith("--"));
const places = asked.filter((a) => !a.startsWith("--"));
const files = (places.length > 0 ? places : ["test"]).flatMap((place) =>
  statSync(place).isDirectory() ? globSync(`${place}/**/*.test.ts`).sort() : [place],
);
if (files.length === 0) {
  console.error(`no *.test.ts file in ${places.join(", ") || "test"}`);
  process.exit(2);
}

const runner = spawn(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${Math.min(4, availableParallelism())}`,
    "--test-timeout=230000",
    "--test-reporter=spec",
    ...options,
    ...files,
  ],
  {
    stdio: ["inherit", "pipe", "inherit"],
    // every file is a process, and many start others: what one compiled, the next need not compile again
    env: { NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled"), ...process.env, FORCE_COLOR: "0" },
  },
);

const total = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /;
const totals: string[] = [];
for await (const line of createInterface({ input: runner.stdout })) {
  if (total.test(line)) totals.push(line);
  else console.log(line);
}
const code = await new Promise<number>((resolve) => {
  if (runner.exitCode !== null) resolve(runner.exitCode);
  else runner.on("exit", (exit) => resolve(exit ?? 1));
});
console.log(totals.join("\n"));
process.exitCode = code;
