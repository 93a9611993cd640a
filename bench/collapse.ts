// How often a run that learns from labels of its own making is told that it collapses, and how often one that does not.
//
//     node bench/collapse.ts [--seeds 20]
//
// Whole runs by train(), in folders, on tables. Rows go to bench/results/collapse.jsonl as they are done, and a second call goes on; it then writes
// the table of docs/self-play.md. The thresholds were chosen on seeds 901 to 903.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mean } from "../src/common/statistics/statistics.ts";
import { type RumourKind, rumourKinds, rumourRun } from "../src/worlds/arms/rumours.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

const { values } = parseArgs({ options: { seeds: { type: "string", default: "20" } } });
const seeds = Number(values.seeds);
const firstSeed = 1;

interface Row {
  readonly kind: RumourKind;
  readonly seed: number;
  /** Names of the findings of a run that is not watched. */
  readonly unwatched: readonly string[];
  /** Iterations of a watched run, which an alarm ends. */
  readonly iterations: number;
  /** Exact accuracy of the weights at the end: of the run that goes on, and of the one that an alarm ends. */
  readonly accuracy: readonly [on: number, ended: number];
}

const root = join(import.meta.dirname, "..");
const file = join(root, "bench", "results", "collapse.jsonl");
const rows = keptRows<Row>(file);
for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
  for (const kind of rumourKinds) {
    if (rows.some((row) => row.kind === kind && row.seed === seed)) continue;
    const folder = mkdtempSync(join(tmpdir(), "collapse-"));
    const on = await rumourRun(kind, seed, { out: join(folder, "on") });
    const watch = { audit: "environment", audits: 64, every: 2 } as const;
    const ended = await rumourRun(kind, seed, { out: join(folder, "watched"), watch });
    rmSync(folder, { recursive: true });
    const row: Row = {
      ...{ kind, seed },
      unwatched: on.summary.health.findings.map(({ check }) => check),
      iterations: ended.summary.iterations,
      accuracy: [on.accuracy, ended.accuracy],
    };
    rows.push(row);
    appendFileSync(file, `${JSON.stringify(row)}\n`);
    progress(
      `${kind} · seed ${seed}: ${row.unwatched.join(", ") || "nothing"}; ${row.iterations} iterations`,
    );
  }
}

const whole = 48;
const share = (x: number): string => `${(100 * x).toFixed(1)} %`;
const said: Readonly<Record<RumourKind, string>> = {
  "led astray": "its own majority, which is mostly wrong",
  "mostly right": "its own majority, which is mostly right",
  labelled: "true labels, where its majority would be mostly wrong",
};
const head = [
  "paid by",
  "unwatched: called a collapse",
  "watched: alarm",
  "after iteration",
  "right at the end",
  "right in the weights that a watched run keeps",
];
const body = rumourKinds.map((kind) => {
  const of = rows.filter((row) => row.kind === kind);
  const raised = of.filter(({ iterations }) => iterations < whole);
  return [
    said[kind],
    `${of.filter(({ unwatched }) => unwatched.includes("collapse")).length} of ${of.length}`,
    `${raised.length} of ${of.length}`,
    raised.length > 0 ? mean(raised.map(({ iterations }) => iterations)).toFixed(0) : "–",
    share(mean(of.map(({ accuracy }) => accuracy[0]))),
    share(mean(of.map(({ accuracy }) => accuracy[1]))),
  ];
});
const table = [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...body]
  .map((cells) => `| ${cells.join(" | ")} |`)
  .join("\n");

const start = "<!-- measured by bench/collapse.ts -->";
const end = "<!-- end of what bench/collapse.ts measured -->";
const page = join(root, "docs", "self-play.md");
const [before = "", rest = ""] = readFileSync(page, "utf8").split(start);
writeFileSync(page, `${before}${start}\n\n${table}\n\n${end}${rest.split(end)[1] ?? ""}`);
