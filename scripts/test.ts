/**
 * Runs the test files under test/ (or the files and folders given) with Node's own runner, and prints its totals
 * last, below any list of failures.
 */
import { spawn } from "node:child_process";
import { globSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/**
 * Rooms of which all tests share one process: most only calculate, and starting a process and reading the modules costs
 * more than what most of their files do. A test that starts a server or a program, or changes the environment or the
 * working folder, belongs elsewhere. Tests of pages share one browser as well, and the runs that they look at.
 */
const shared = [
  "advantage",
  "annotate",
  "core",
  "credit",
  "critic",
  "data",
  "diagnose",
  "env",
  "env/users",
  "feedback",
  "helper",
  "method",
  "method/baseline",
  "method/objective",
  "objective",
  "offpolicy",
  "rollout",
  "update",
  "web",
];
/** Of these, the files that take long enough to run beside the others. */
const alone = ["test/env/environments.test.ts"];

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

/** Files of a shared room become one, that imports them. */
function inRooms(files: readonly string[]): string[] {
  const folder = resolve("node_modules/.cache/rooms");
  mkdirSync(folder, { recursive: true });
  const rooms = Map.groupBy(files, (file) => {
    const room = dirname(file).replace(/^test\//, "");
    return shared.includes(room) && !alone.includes(file) ? room.replaceAll("/", "-") : file;
  });
  return [...rooms].flatMap(([room, its]) => {
    if (its.length === 1) return its;
    const file = join(folder, `${room}.test.mjs`);
    writeFileSync(
      file,
      its.map((one) => `import ${JSON.stringify(pathToFileURL(resolve(one)).href)};\n`).join(""),
    );
    return [file];
  });
}

const runner = spawn(
  process.execPath,
  [
    "--test",
    // some wait for others' clocks, for disks and for processes that they have killed
    `--test-concurrency=${Math.min(4, availableParallelism() + 1)}`,
    "--test-timeout=230000",
    "--test-reporter=spec",
    ...options,
    // rooms with the longest files come late in the alphabet: begun last, one would go on alone
    ...inRooms(files).reverse(),
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
