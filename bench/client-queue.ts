// The client's queue under random interleavings of callers, page, network and clock: far more of them than the tests afford.
//
//     node bench/client-queue.ts --runs 20000 [--seed 1]
//
// Fails with the shortest interleaving under which a signal is lost, doubled, out of order or never settled.
// Writes bench/results/client-queue.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { requireAllSettled } from "../test/client/interleavings.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const began = performance.now();
const counts = await requireAllSettled(runs, seed);
const seconds = (performance.now() - began) / 1000;
const text = [
  "# The client's queue under random interleavings",
  "",
  `\`node bench/client-queue.ts --runs ${runs} --seed ${seed}\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}: ${runs} interleavings in ${seconds.toFixed(0)} s of what callers, page, network and clock do.`,
  "In each of them every signal was acknowledged or given up for a reason that held, none was kept twice, and each `flush` waited for all that had been added before it.",
  "Where no page was left, signals arrived in the order in which they were added, and one request was under way at a time.",
  "",
  "| what came | times |",
  "| --- | --: |",
  ...[...counts].sort(([a], [b]) => a.localeCompare(b)).map(([what, times]) => `| ${what} | ${times} |`),
  "",
].join("\n");
writeFileSync(join(import.meta.dirname, "results", "client-queue.md"), text);
console.log(text);
