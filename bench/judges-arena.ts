// What a judge of a given accuracy and bias costs the policy that it teaches, by method, in the arena of instructions.
//
//     node bench/judges-arena.ts        # what lies in bench/results/judges-arena.jsonl is not run again
//
// Writes its measured part of docs/comparisons/judges.md.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../src/common/files/files.ts";
import { mean, meanInterval } from "../src/common/statistics/statistics.ts";
import { withMeasured } from "./feedback/page.ts";
import { type ArenaKey, type ArenaRow, arenaRun, judged, judges, learners } from "./judges/arenaRun.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

const root = join(import.meta.dirname, "..");
const results = join(root, "bench/results/judges-arena.jsonl");
const page = join(root, "docs/comparisons/judges.md");

/** Used by nothing else in the arena: its step sizes were chosen on others. */
const seeds = Array.from({ length: 8 }, (_, i) => 301 + i);
const keys = seeds.flatMap((seed) =>
  Object.keys(learners).flatMap((learner) =>
    Object.keys(judges).map((judge): ArenaKey => ({ judge, learner, seed })),
  ),
);
const keyOf = ({ judge, learner, seed }: ArenaKey): string => [judge, learner, seed].join("/");
const known = new Map(keptRows<ArenaRow>(results).map((row) => [keyOf(row), row]));
const missing = keys.filter((key) => !known.has(keyOf(key)));
progress(`${keys.length - missing.length} of ${keys.length} runs are there`);
for (const [i, key] of missing.entries()) {
  const row = await arenaRun(key);
  known.set(keyOf(key), row);
  appendFileSync(
    results,
    `${JSON.stringify(row, (_, x) => (typeof x === "number" ? Number(x.toPrecision(6)) : x))}\n`,
  );
  if (i % 12 === 11) progress(`${i + 1} of ${missing.length} runs`);
}

const percent = (x: number): string => (100 * x).toFixed(0);
const rowsOf = (judge: string, learner: string): readonly ArenaRow[] =>
  seeds.map((seed) => known.get(keyOf({ judge, learner, seed }))!);
const costs = (judge: string, learner: string): string => {
  const best = rowsOf("careful", learner);
  const {
    mean: m,
    low,
    high,
  } = meanInterval(rowsOf(judge, learner).map(({ success }, i) => 100 * (success - best[i]!.success)));
  const signed = (x: number): string => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(1)}`;
  return judge === "careful" ? "" : `${signed(m)} [${signed(low)}, ${signed(high)}]`;
};
const lines = Object.entries(judges).flatMap(([judge, { careful, hurried }]) => {
  const { accuracy, flattered } = judged(judge);
  return Object.keys(learners).map((learner) => {
    const rows = rowsOf(judge, learner);
    const { low, high, mean: success } = meanInterval(rows.map((row) => row.success));
    return [
      judge,
      `${percent(careful)} / ${percent(hurried)} / ${percent(1 - careful - hurried)}`,
      percent(accuracy),
      percent(flattered),
      learner,
      `${percent(success)} [${percent(low)}, ${percent(high)}]`,
      costs(judge, learner),
      mean(rows.map((row) => row.utility)).toFixed(3),
      mean(rows.map((row) => row.impression)).toFixed(3),
    ];
  });
});
const head = [
  "judge",
  "careful / hurried / coin, %",
  "right, %",
  "goes by the looks, %",
  "method",
  "success on test, %",
  "beside the careful judge, points",
  "utility",
  "impression",
];
const table = [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
await replaceFile(page, withMeasured(readFileSync(page, "utf8"), table, "bench/judges-arena.ts"));
