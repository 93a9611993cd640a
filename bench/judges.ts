// What a reward model costs the policy that it pays, and what a watch notices of it, in the hackable world.
//
//     node bench/judges.ts              # what lies in bench/results/judges.jsonl is not run again
//
// Writes the measured part of docs/comparisons/judges.md and the chart beside it.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../src/common/files/files.ts";
import { withMeasured } from "./feedback/page.ts";
import { curves, tablesOf } from "./judges/page.ts";
import { type JudgesKey, type JudgesRun, judgesRun } from "./judges/run.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

const root = join(import.meta.dirname, "..");
const results = join(root, "bench/results/judges.jsonl");
const page = join(root, "docs/comparisons/judges.md");

/** Seeds 1001 to 1003 and 101 to 120 served to build the world and the watch; 7 was seen once. None of these is reported. */
const seeds = Array.from({ length: 20 }, (_, i) => 201 + i);
const usual = { comparisons: 400, payer: "one", pull: 0, audit: "labels", audits: 8 } as const;

const kinds: readonly Omit<JudgesKey, "seed">[] = [0.7, 0].flatMap((room) => [
  // the watch, by what it is told
  ...[8, 4, 16].map((audits) => ({ ...usual, room, audits })),
  { ...usual, room, audit: "models" as const },
  // what pays, and what pulls it back; where there is nothing to hack, fewer of them
  { ...usual, room, payer: "gold" as const },
  ...(room > 0 ? ([100, 400, 1600] as const) : ([400] as const)).flatMap((comparisons) => [
    ...(["mean", "worst"] as const).map((payer) => ({ ...usual, room, comparisons, payer })),
    ...(room > 0 ? [0.03, 0.1, 0.3] : [0.1]).map((pull) => ({ ...usual, room, comparisons, pull })),
  ]),
  ...[100, 1600].map((comparisons) => ({ ...usual, room, comparisons })),
]);

const keyOf = ({ room, comparisons, payer, pull, audit, audits, seed }: JudgesKey): string =>
  [room, comparisons, payer, pull, audit, audits, seed].join(" ");

const known = new Map(keptRows<JudgesRun>(results).map((run) => [keyOf(run), run]));
const keys = [
  ...new Map(kinds.flatMap((kind) => seeds.map((seed) => [keyOf({ ...kind, seed }), { ...kind, seed }]))),
];
const missing = keys.filter(([key]) => !known.has(key));
progress(`${keys.length - missing.length} of ${keys.length} runs are there`);
const began = performance.now();
for (const [i, [name, key]] of missing.entries()) {
  const run = await judgesRun(key);
  known.set(name, run);
  appendFileSync(
    results,
    `${JSON.stringify(run, (_, x) => (typeof x === "number" ? Number(x.toPrecision(6)) : x))}\n`,
  );
  if (i % 20 === 19 || i === missing.length - 1) {
    const each = (performance.now() - began) / 1000 / (i + 1);
    progress(
      `${i + 1} of ${missing.length} runs, ${Math.ceil((each * (missing.length - i - 1)) / 60)} min left`,
    );
  }
}
const runs = keys.map(([key]) => known.get(key)!);
await replaceFile(page, withMeasured(readFileSync(page, "utf8"), tablesOf(runs), "bench/judges.ts"));
await replaceFile(page.replace(/\.md$/, ".svg"), curves(runs));
