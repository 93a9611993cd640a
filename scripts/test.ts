/**
 * Runs the test files under test/ and in the methods' folders (or the given files and folders) with Node's test runner, and
 * prints the totals last, below any list of failures. `--long` runs those that take long, `--gpu` those of the local engine on a
 * graphics adapter; a software adapter will do, and without one a line says that they were skipped.
 */
import { spawn } from "node:child_process";
import { chmodSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { temporary } from "../test/temporary.ts";
import { adapterEnvironment } from "./adapterEnvironment.ts";

/** Slow files, which run in parallel to the others of their folder. */
const alone = [
  "test/cli/commands.test.ts",
  "test/env/environments.test.ts",
  "test/train/kill.test.ts",
  "test/docs/guides.test.ts",
];
/** The slowest groups, started first so that none of them runs alone at the end. */
const longest = [
  "web",
  ...alone,
  "engine-local",
  "train",
  "cli",
  "store",
  "serve",
  "docs",
  "env",
  "bench",
  "sandbox",
  "suite",
];

/** Files that take long and change seldom: `--long` runs them, `npm run check` and CI do as a step of their own. */
const long = [
  "test/arenas/arena.test.ts",
  "test/bench/tinkerFaults.test.ts",
  "test/cli/artefacts.test.ts",
  "test/cli/catalogue.test.ts",
  "test/cli/chatOptions.test.ts",
  "test/cli/checkGoesOn.test.ts",
  "test/cli/commands.test.ts",
  "test/cli/compareModel.test.ts",
  "test/cli/discover.test.ts",
  "test/cli/init.test.ts",
  "test/cli/judge.test.ts",
  "test/cli/judgeLive.test.ts",
  "test/cli/judgeScore.test.ts",
  "test/cli/league.test.ts",
  "test/cli/modules.test.ts",
  "test/cli/pretrained.test.ts",
  "test/cli/resume.test.ts",
  "test/cli/suite.test.ts",
  "test/cli/tasks.test.ts",
  "test/cli/watch.test.ts",
  "test/diagnose/environments/environments.test.ts",
  "test/diagnose/opposed.test.ts",
  "test/docs/docs.test.ts",
  "test/docs/guides.test.ts",
  "test/docs/snippets.test.ts",
  "test/engine/local/ending.test.ts",
  "test/engine/local/gguf.test.ts",
  "test/engine/local/invariance.test.ts",
  "test/engine/local/memoryPlan.test.ts",
  "test/engine/tinker/model.test.ts",
  "test/engine/tinker/probe.test.ts",
  "test/engine/tinker/server.test.ts",
  "test/env/adapters/mcp.test.ts",
  "test/env/environments.test.ts",
  "test/evaluator/planted.test.ts",
  "test/methods/curricula.test.ts",
  "test/rollout/selfPlay.test.ts",
  "test/scripts/package.test.ts",
  "test/scripts/smoke.test.ts",
  "test/serve/fuzz.test.ts",
  "test/serve/gateway/command.test.ts",
  "test/serve/gateway/encoded.test.ts",
  "test/serve/gateway/lying.test.ts",
  "test/serve/hostilePages.test.ts",
  "test/serve/otlp.test.ts",
  "test/store/backup.test.ts",
  "test/store/durability.test.ts",
  "test/store/erasure.test.ts",
  "test/store/postgresBackup.test.ts",
  "test/store/trafficStore.test.ts",
  "test/suite/lmrlGym.test.ts",
  "test/train/asyncRollouts.test.ts",
  "test/train/collapse.test.ts",
  "test/train/disk.test.ts",
  "test/train/estimate.test.ts",
  "test/train/failing.test.ts",
  "test/train/kill.test.ts",
  "test/train/same.test.ts",
  "test/train/watching.test.ts",
  "test/web/acts.test.ts",
  "test/web/hostile.test.ts",
  "test/web/keys.test.ts",
  "test/web/learning.test.ts",
  "test/web/learningOnGpu.test.ts",
  "test/web/live.test.ts",
  "test/web/login.test.ts",
  "test/web/pages.test.ts",
  "test/web/paper.test.ts",
  "test/web/saved.test.ts",
];

/** Files that run on a graphics adapter where there is one. */
const onGpu = [
  "test/tensor/wgsl.test.ts",
  ...["adapters", "gpu", "memoryPlan", "mix", "outputs", "parity", "parityAdapters", "sampling", "step"].map(
    (name) => `test/engine/local/${name}.test.ts`,
  ),
];

const [isLong, isGpu] = ["--long", "--gpu"].map((flag) => process.argv.includes(flag));
const asked = process.argv.slice(2).filter((arg) => arg !== "--long" && arg !== "--gpu");
const options = asked.filter((a) => a.startsWith("--"));
const places = asked.filter((a) => !a.startsWith("--"));
const found = (places.length > 0 ? places : ["test", "src/methods"]).flatMap((place) =>
  statSync(place).isDirectory() ? globSync(`${place}/**/*.test.ts`).sort() : [place],
);
const listed = isLong ? long : isGpu ? onGpu : undefined;
const isAsked = (file: string): boolean =>
  places.includes(file) || (listed ? listed.includes(file) : !long.includes(file));
const files = listed && places.length === 0 ? listed : found.filter(isAsked);
if (files.length === 0) {
  console.error(`no *.test.ts file in ${places.join(", ") || "test or src/methods"}`);
  process.exit(2);
}

const gpu = isGpu ? adapterEnvironment() : {};
if (gpu === undefined) {
  console.log(
    "The tests on a graphics adapter are skipped: none was found, nor Debian's chromium, which brings one in software.",
  );
  process.exit();
}

/** The group of a file: `engine-local` for `test/engine/local/…`, the family for methods, else the first folder. */
function roomOf(file: string): string {
  const [place, first = "", second = ""] = relative(".", file).split(sep);
  return place === "src" || first === "engine" ? `${first}-${second}` : first;
}

/**
 * Combines the files of a group into one, which runs them in one process: starting a process and loading the modules takes
 * longer than most files. Its name begins with its rank, since Node starts files in alphabetical order.
 */
function inRooms(files: readonly string[]): string[] {
  const folder = resolve("node_modules/.cache/rooms");
  mkdirSync(folder, { recursive: true });
  const urlOf = (file: string): string => pathToFileURL(resolve(file)).href;
  const rooms = Map.groupBy(files, (file) => (alone.includes(file) ? file : roomOf(file)));
  const place = (room: string): number => (longest.includes(room) ? longest.indexOf(room) : longest.length);
  return [...rooms]
    .sort(([a], [b]) => place(a) - place(b))
    .map(([room, its], turn) => {
      const name = `${String(turn).padStart(3, "0")}-${room.replaceAll("/", "-").replace(/\.test\.ts$/, "")}`;
      const path = join(folder, `${name}.test.mjs`);
      const all = Object.fromEntries(its.map((file) => [file, urlOf(file)]));
      writeFileSync(
        path,
        `import { inTurn } from ${JSON.stringify(urlOf("test/room.ts"))};\nawait inTurn(${JSON.stringify(all)});\n`,
      );
      return path;
    });
}

/** Holds all temporary files. It is removed after the run, including what killed processes left there. */
const scratch = mkdtempSync(join(temporary, "whetstone-test-"));
chmodSync(scratch, 0o755); // a database server may run as another user
process.on("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));

const runner = spawn(
  process.execPath,
  [
    "--test",
    // some tests wait for timers, disks or killed processes
    `--test-concurrency=${Math.min(4, availableParallelism() + 1)}`,
    // the timeout also fits a whole group on a busy machine
    "--test-timeout=600000",
    "--test-reporter=spec",
    ...options,
    ...inRooms(files),
  ],
  {
    stdio: ["inherit", "pipe", "inherit"],
    // most files start processes: a compile cache saves compiling the same modules again
    env: {
      NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled"),
      ...process.env,
      ...gpu,
      TMPDIR: scratch,
      FORCE_COLOR: "0",
    },
  },
);

// temporary files must stay until the last test has ended
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => runner.kill(signal));

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
