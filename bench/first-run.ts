// What a newcomer's first run comes to: the projects of `whetstone init`, each trained as it is, over some seeds.
//
//     node bench/first-run.ts --seeds 5
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { replaceFile } from "../src/common/files/files.ts";
import { meanInterval } from "../src/common/statistics/statistics.ts";
import type { RunEvent } from "../src/train/events.ts";
import { inProject, install } from "../test/cli/projects.ts";

const { seeds, out } = new Command()
  .option("--seeds <n>", "runs", "5")
  .option("--out <file>", "page", fileURLToPath(new URL("results/first-run.md", import.meta.url)))
  .parse()
  .opts<{ readonly seeds: string; readonly out: string }>();

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "whetstone-first-run-"));
type Done = Extract<RunEvent, { type: "done" }>;
type Evaluation = Extract<RunEvent, { type: "evaluation" }>;
const share = (x: number): string => (100 * x).toFixed(1);
const spread = (values: readonly number[]): string => {
  const { mean, low, high } = meanInterval([...values]);
  return `${share(mean)} [${share(Math.max(0, low))}, ${share(Math.min(1, high))}]`;
};

interface Run {
  readonly seed: number;
  readonly seconds: number;
  readonly sampled: { readonly before: number; readonly after: number };
  readonly greedy: { readonly before: number; readonly after: number };
}

/** One run of a project, with another seed. */
async function trained(start: string, project: string, seed: number): Promise<Run> {
  const args = ["train", "config.ts", "--seed", `${seed}`, "--out", `runs/${seed}`, "--json"];
  const { code, out } = await inProject(project, "whetstone", args);
  if (code !== 0) throw new Error(out);
  const events = out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as RunEvent);
  const success = (when: Evaluation["when"], mode: Evaluation["mode"]): number =>
    events.find((e): e is Evaluation => e.type === "evaluation" && e.when === when && e.mode === mode)!
      .success.mean;
  const { seconds } = events.find((e): e is Done => e.type === "done")!;
  console.error(`${start}, seed ${seed}: ${share(success("after", "sampled"))} %, ${seconds.toFixed(0)} s`);
  const of = (mode: Evaluation["mode"]) => ({
    before: success("before", mode),
    after: success("after", mode),
  });
  return { seed, seconds, sampled: of("sampled"), greedy: of("greedy") };
}

/** The table of one start. */
async function tableOf(start: string): Promise<readonly string[]> {
  const project = join(folder, start);
  execFileSync(process.execPath, [main, "init", project, "--start", start], { stdio: "ignore" });
  install(project, join(folder, `${start}-packages`));
  if (start === "feedback") await inProject(project, process.execPath, ["rehearse.ts"]);
  const runs: Run[] = [];
  for (let seed = 1; seed <= Number(seeds); seed++) runs.push(await trained(start, project, seed));
  const all = (mode: "sampled" | "greedy", when: "before" | "after") =>
    spread(runs.map((r) => r[mode][when]));
  return [
    `## --start ${start}`,
    "",
    "| seed | sampled before | after | greedy before | after | seconds |",
    "| --- | --- | --- | --- | --- | --- |",
    ...runs.map(
      ({ seed, sampled, greedy, seconds }) =>
        `| ${seed} | ${share(sampled.before)} | ${share(sampled.after)} | ${share(greedy.before)} | ${share(greedy.after)} | ${seconds.toFixed(0)} |`,
    ),
    `| all | ${all("sampled", "before")} | ${all("sampled", "after")} | ${all("greedy", "before")} | ${all("greedy", "after")} | |`,
    "",
  ];
}

try {
  const page = [
    "# The first run",
    "",
    "Written by `node bench/first-run.ts`.",
    "",
    `The projects of \`whetstone init\`, each trained as it is, on ${cpus().length} cores, Node ${process.versions.node}: success in % on held-out tasks, mean over ${seeds} seeds with 95 % t intervals. The feedback is that of one rehearsal. Seconds are those of a machine that did other work as well.`,
    "",
  ];
  for (const start of ["environment", "agent", "feedback"]) page.push(...(await tableOf(start)));
  await replaceFile(out, page.join("\n"));
  console.log(page.join("\n"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
