// The main job over five seeds: success before and after, with t intervals over seeds. About 3 minutes a seed.
//
//     node bench/facts.ts            # seeds 1 to 5; those whose lines lie in bench/results are not run again
//     node bench/facts.ts 6 7 8      # other seeds
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { meanInterval, pairedInterval } from "../src/common/statistics/statistics.ts";
import type { Interval } from "../src/core/interval.ts";
import type { RunEvent } from "../src/train/events.ts";

const results = join(import.meta.dirname, "results");
const seeds = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 2, 3, 4, 5];
const fileOf = (seed: number): string => join(results, `facts-seed-${seed}.jsonl`);

async function run(seed: number): Promise<void> {
  const out = join(mkdtempSync(join(tmpdir(), "whetstone-facts-")), "run");
  const main = join(import.meta.dirname, "../src/cli/main.ts");
  const began = performance.now();
  const child = spawn(process.execPath, [main, "start", "--seed", String(seed), "--out", out, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  let rest = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    lines.push(...parts);
  }
  // validation and checkpoints are left out: what is kept is what the table is made from
  const kept = lines.filter((l) => {
    const event = JSON.parse(l) as RunEvent;
    return event.type === "evaluation" && event.when !== "during";
  });
  const wall = { type: "wall", seconds: (performance.now() - began) / 1000 };
  writeFileSync(`${fileOf(seed)}.partial`, `${[...kept, JSON.stringify(wall)].join("\n")}\n`);
  renameSync(`${fileOf(seed)}.partial`, fileOf(seed));
}

type Line = RunEvent | { readonly type: "wall"; readonly seconds: number };

const percent = ({ mean, low, high }: Interval): string =>
  `${(100 * mean).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;

for (const seed of seeds) {
  if (existsSync(fileOf(seed))) continue;
  console.error(`seed ${seed} …`);
  await run(seed);
}
const lines = seeds.map((seed) =>
  readFileSync(fileOf(seed), "utf8")
    .trim()
    .split("\n")
    .map((l) => JSON.parse(l) as Line),
);
const successes = (when: "before" | "after", split: string, mode: string): number[] =>
  lines.map((of) => {
    const found = of.find(
      (e) => e.type === "evaluation" && e.when === when && e.split === split && e.mode === mode,
    );
    if (found?.type !== "evaluation") throw new Error(`no evaluation ${when} ${split} ${mode}`);
    return found.success.mean;
  });

console.log("| held-out questions | actions | before | after | gain |\n| --- | --- | --- | --- | --- |");
for (const split of ["test", "unseen-chains"]) {
  for (const mode of ["sampled", "greedy"]) {
    const [before, after] = [successes("before", split, mode), successes("after", split, mode)];
    const gain = pairedInterval(after, before);
    const cells = [split, mode, percent(meanInterval(before)), percent(meanInterval(after)), percent(gain)];
    console.log(`| ${cells.join(" | ")} |`);
  }
}
const walls = lines.flatMap((of) => of.flatMap((e) => (e.type === "wall" ? [Math.round(e.seconds)] : [])));
console.log(`\n${seeds.length} seeds, 200 questions each; seconds of wall clock: ${walls.join(", ")}`);
