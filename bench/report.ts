/** What was measured, where and when: JSON files under bench/results and one markdown page made from them. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, totalmem } from "node:os";
import { join } from "node:path";
import type { Json } from "../src/core/json.ts";
import { type Spread, spreadOf } from "./measure.ts";

/** One line of progress on standard error. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toTimeString().slice(0, 8)} ${text}\n`);
}

/** One row of a table: the same thing measured on every side. */
export interface Case {
  /** What a later measurement of the same thing replaces. */
  readonly key: string;
  readonly table: string;
  readonly what: string;
  readonly unit: string;
  readonly better: "more" | "less";
  /** Values of each side, one per round; "whetstone" is ours. */
  readonly values: Readonly<Record<string, readonly number[]>>;
  /** Anything else worth knowing. */
  readonly about?: Readonly<Record<string, Json>>;
}

interface Kept extends Case {
  readonly spread: Readonly<Record<string, Spread>>;
  /** How many times better our median is than each other side's: above 1 is ahead. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly measured: Json;
}

interface Results {
  readonly bench: string;
  readonly cases: readonly Kept[];
}

const root = join(import.meta.dirname, "..");

function git(...args: readonly string[]): string {
  try {
    return execFileSync("git", args, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
}

/** Those that matrix products can use: ratios between libraries differ with them. Unknown where there is no /proc. */
export function instructionSets(): string {
  const file = "/proc/cpuinfo";
  const flags = existsSync(file)
    ? (/^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? "")
    : "";
  return (
    flags
      .split(" ")
      .filter((flag) => /^(avx|fma|amx|asimd|sve|neon|i8mm|bf16)/.test(flag))
      .join(" ") || "unknown"
  );
}

/** The commit of the code that is measured. */
export function measuredCommit(): string {
  const changed = git("status", "--porcelain", "--", "src") !== "";
  return `${git("rev-parse", "--short", "HEAD")}${changed ? " with changes" : ""}`;
}

/** Where and when: stored with every case. */
function machine(threads: number, versions: Readonly<Record<string, string>>): Json {
  const require = createRequire(import.meta.url);
  return {
    date: new Date().toISOString(),
    commit: measuredCommit(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    instructions: instructionSets(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    threads,
    versions: {
      node: process.versions.node,
      "onnxruntime-node": (require("onnxruntime-node/package.json") as { version: string }).version,
      ...versions,
    },
  };
}

export interface Keeping {
  /** Folder of the results. */
  readonly out: string;
  readonly threads: number;
  readonly versions: Readonly<Record<string, string>>;
}

function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.partial`, text);
  renameSync(`${path}.partial`, path);
}

const readResults = (path: string): Results => JSON.parse(readFileSync(path, "utf8")) as Results;

/** Writes cases into the bench's file, over earlier ones of the same key, and the page of all tables anew. */
export function keep(bench: string, cases: readonly Case[], { out, threads, versions }: Keeping): void {
  mkdirSync(out, { recursive: true });
  const path = join(out, `${bench}.json`);
  const earlier = existsSync(path) ? readResults(path).cases : [];
  const measured = machine(threads, versions);
  const now: Kept[] = cases.map((c) => {
    const spread = Object.fromEntries(Object.entries(c.values).map(([name, xs]) => [name, spreadOf(xs)]));
    const own = spread.whetstone;
    const others = Object.entries(spread).filter(([name]) => name !== "whetstone");
    const ratios = own
      ? Object.fromEntries(
          others.map(([name, s]) => [
            name,
            c.better === "more" ? own.median / s.median : s.median / own.median,
          ]),
        )
      : {};
    return { ...c, spread, ratios, measured };
  });
  const replaced = new Set(now.map((c) => c.key));
  const kept = [...earlier.filter((c) => !replaced.has(c.key)), ...now].sort(inOrder);
  replaceFile(path, `${JSON.stringify({ bench, cases: kept } satisfies Results, null, 1)}\n`);
  replaceFile(join(out, "README.md"), page(out));
}

/** Tables together, sizes ascending, other things in the order of their keys. */
function inOrder(a: Kept, b: Kept): number {
  const size = (c: Kept): number => Number(/([\d.]+)M/.exec(c.key)?.[1] ?? 0);
  return a.table.localeCompare(b.table) || size(a) - size(b) || a.key.localeCompare(b.key);
}

/** Three digits that count, thousands apart. */
function short(x: number): string {
  if (x === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x))));
  return Number(x.toPrecision(3)).toLocaleString("en", {
    minimumFractionDigits: Math.min(digits, 4),
    maximumFractionDigits: Math.min(digits, 4),
  });
}

const shown = ({ median, low, high }: Spread): string =>
  low === high ? short(median) : `${short(median)} (${short(low)} to ${short(high)})`;

/**
 * Replaces a page's section of the same heading, and leaves the others.
 * @param head the page's title, and what stands before its sections. @param section begins with its heading, `## …`.
 */
export function keepSection(path: string, head: string, section: string): void {
  const [heading = ""] = section.split("\n");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const others = text
    .split(/^(?=## )/m)
    .filter((one) => one.startsWith("## ") && one.split("\n")[0] !== heading);
  const sections = [...others, section].sort().reverse();
  replaceFile(path, `${head}\n\n${sections.map((one) => one.trimEnd()).join("\n\n")}\n`);
}

/** Tables in markdown; a peer's cell ends with how many times better ours is. */
export function tables(cases: readonly Kept[]): string {
  return [...Map.groupBy(cases, (c) => c.table)]
    .map(([title, rows]) => {
      const names = [...new Set(rows.flatMap((c) => Object.keys(c.spread)))];
      const head = ["", ...names, "rounds"];
      const body = rows.map((c) => [
        c.what,
        ...names.map((name) => {
          const s = c.spread[name];
          if (!s) return "";
          const ratio = c.ratios[name];
          return ratio === undefined ? `**${shown(s)}**` : `${shown(s)}; ×${ratio.toFixed(2)}`;
        }),
        String(Math.max(...Object.values(c.values).map((xs) => xs.length))),
      ]);
      const lines = [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`);
      return `### ${title}\n\n${lines.join("\n")}\n`;
    })
    .join("\n");
}

/** The cases of a bench as they are kept. */
export const keptCases = (bench: string, out: string): readonly Kept[] =>
  readResults(join(out, `${bench}.json`)).cases;

const benches = ["train", "sample", "iteration", "growth"] as const;

/** The processors that figures on the page are from: ratios between libraries differ with their instructions. */
function machinesOf(files: ReadonlySet<string>, out: string): string[] {
  const measured = benches
    .filter((bench) => files.has(`${bench}.json`))
    .flatMap((bench) => keptCases(bench, out).map((c) => c.measured as Readonly<Record<string, Json>>));
  const named = measured.map(
    ({ cpu, cores, instructions = "unknown" }) => `${cpu}, ${cores} cores, instructions ${instructions}`,
  );
  return [...new Set(named)].map((machine) => `Measured on ${machine}.`);
}

function page(out: string): string {
  const files = new Set(readdirSync(out));
  const parts = benches
    .filter((bench) => files.has(`${bench}.json`))
    .map((bench) => `## ${bench}\n\n${tables(keptCases(bench, out))}`);
  return [
    "# Measured\n",
    "Written by `npm run bench`; machine, versions, commit and every single value are in the JSON files beside.",
    ...machinesOf(files, out),
    "Cells: median (lowest to highest round); × how many times better ours is than that peer, so above 1 is ahead.\n",
    parts.join("\n"),
  ].join("\n");
}
