// What a newcomer's first run comes to: the project of `whetstone init`, trained as it is, over some seeds.
//
//     node bench/first-run.ts --seeds 5
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { meanInterval } from "../src/common/statistics/statistics.ts";
import type { RunEvent } from "../src/train/events.ts";

const { seeds, out } = new Command()
  .option("--seeds <n>", "runs", "5")
  .option("--out <file>", "page", fileURLToPath(new URL("results/first-run.md", import.meta.url)))
  .parse()
  .opts<{ readonly seeds: string; readonly out: string }>();

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-first-run-"));
const whetstone = (args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

type Done = Extract<RunEvent, { type: "done" }>;
type Evaluation = Extract<RunEvent, { type: "evaluation" }>;
const share = (x: number): string => (100 * x).toFixed(1);
const spread = (values: readonly number[]): string => {
  const { mean, low, high } = meanInterval([...values]);
  return `${share(mean)} [${share(Math.max(0, low))}, ${share(Math.min(1, high))}]`;
};

try {
  whetstone(["init", "mine"], folder);
  const project = join(folder, "mine");
  const runs = Array.from({ length: Number(seeds) }, (_, i) => {
    const seed = i + 1;
    const lines = whetstone(
      ["train", "config.ts", "--seed", `${seed}`, "--out", `runs/${seed}`, "--json"],
      project,
    );
    const events = lines
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as RunEvent);
    const success = (when: Evaluation["when"], mode: Evaluation["mode"]): number =>
      events.find((e): e is Evaluation => e.type === "evaluation" && e.when === when && e.mode === mode)!
        .success.mean;
    const { seconds } = events.find((e): e is Done => e.type === "done")!;
    console.error(`seed ${seed}: ${share(success("after", "sampled"))} %, ${seconds.toFixed(0)} s`);
    const of = (mode: Evaluation["mode"]) => ({
      before: success("before", mode),
      after: success("after", mode),
    });
    return { seed, seconds, sampled: of("sampled"), greedy: of("greedy") };
  });
  const all = (mode: "sampled" | "greedy", when: "before" | "after") =>
    spread(runs.map((r) => r[mode][when]));
  const page = [
    "# The first run",
    "",
    "Written by `node bench/first-run.ts`.",
    "",
    `The project of \`whetstone init\`, trained as it is, on ${cpus().length} cores, Node ${process.versions.node}: success in % on held-out tasks, mean over ${runs.length} seeds with 95 % t intervals.`,
    "",
    "| seed | sampled before | after | greedy before | after | seconds |",
    "| --- | --- | --- | --- | --- | --- |",
    ...runs.map(
      ({ seed, sampled, greedy, seconds }) =>
        `| ${seed} | ${share(sampled.before)} | ${share(sampled.after)} | ${share(greedy.before)} | ${share(greedy.after)} | ${seconds.toFixed(0)} |`,
    ),
    `| all | ${all("sampled", "before")} | ${all("sampled", "after")} | ${all("greedy", "before")} | ${all("greedy", "after")} | |`,
    "",
  ].join("\n");
  await replaceFile(out, page);
  console.log(page);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
