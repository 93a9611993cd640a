/** A comparison of two methods over two seeds, as the command line writes it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ComparedRun, compareRuns } from "../../src/train/compare.ts";

/** @param folder of the store. */
export function compare(folder: string, env = "echo"): void {
  const about = { env, engine: "tabular", seeds: [1, 2], tuningSeeds: 0, iterations: 2 };
  const run = (method: string, seed: number, success: number): ComparedRun => ({
    method,
    seed,
    heldOut: { test: success },
    curve: [0, success],
    episodes: 10,
    tokens: 100,
    seconds: 1,
  });
  const runs = [run("grpo", 1, 0.9), run("grpo", 2, 1), run("rloo", 1, 0.4), run("rloo", 2, 0.6)];
  const out = join(folder, `compare-${env}`);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "report.json"), JSON.stringify(compareRuns(about, runs)));
}
