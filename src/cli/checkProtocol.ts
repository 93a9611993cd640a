/**
 * The order in which a check may be run: committed before anything of it runs, every run logged, and a redesign after a look on fresh
 * seeds at half the error of the design before.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { looks } from "../common/statistics/statistics.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { StoredEvidence } from "../methods/evidence.ts";
import {
  type ArmEvidence,
  type Check,
  type CheckEvidence,
  levels,
  type RunCheckOptions,
} from "../train/check.ts";
import { tuningFrom } from "../train/experiment.ts";
import { numberOption } from "./numbers.ts";

/** First reported seed of the first design. */
export const baseSeed = 1;
/** Reported seeds of one design lie this far from those of the next. */
const seedsApart = 1000;
const mostSeeds = Math.max(...looks.seeds);

/** The design, from 1, on whose reported seeds a run with this first seed may come; 0 where it comes on none's. */
function designAt(seed: number): number {
  const nearest = Math.round((seed - baseSeed) / seedsApart);
  return Math.abs(seed - baseSeed - nearest * seedsApart) < mostSeeds ? nearest + 1 : 0;
}

/**
 * The first seed of a run, from the text of `--seed`: the first design's, which makes evidence, or one for a trial, which comes on no
 * design's reported seeds and on none that settings are chosen on.
 * @throws WhetstoneError `option.range`.
 */
export const firstSeed = (text: string): number =>
  numberOption("--seed", text, {
    isValid: (seed) =>
      seed === baseSeed ||
      (Number.isSafeInteger(seed) &&
        seed > baseSeed &&
        designAt(seed) === 0 &&
        seed + mostSeeds <= tuningFrom),
    expected: `${baseSeed}, which writes evidence, or for a trial ${baseSeed + mostSeeds} to ${baseSeed + seedsApart - mostSeeds} above a multiple of ${seedsApart}, below ${tuningFrom}: the others are kept for what is reported`,
    fix: "Try other seeds, for example 100.",
  });

/** A command of git in a folder. Undefined where git or the repository is missing. */
export function git(folder: string, ...args: readonly string[]): string | undefined {
  try {
    const options = {
      cwd: folder,
      encoding: "utf8",
      stdio: "pipe",
      maxBuffer: Number.POSITIVE_INFINITY,
    } as const;
    return execFileSync("git", args, options).trim();
  } catch {
    return undefined;
  }
}

/**
 * Refuses a check, or an arena, whose sources differ from what is committed, on any seeds: what is claimed comes before what is found.
 * @param sources paths relative to the folder, or git's patterns of paths.
 * @throws WhetstoneError `config.invalid` where a source is not committed, or where there is no repository.
 */
export function requireCommitted(
  id: string,
  folder: string,
  sources: readonly string[],
  kind: "check" | "arena" = "check",
): void {
  const status = git(folder, "status", "--porcelain", "--", ...sources);
  if (status === "") return;
  const got =
    status === undefined
      ? "no git repository"
      : `${status.split("\n")[0]!.replace(/^\S+ +/, "")}, which is not committed`;
  throw new WhetstoneError("config.invalid", {
    where: `${kind} "${id}"`,
    got,
    expected: `${kind === "check" ? "a check that is committed, with its worlds and the code that it runs," : "an arena and code that are committed"} before anything of it runs`,
    fix: status === undefined ? "Run it in a clone of the repository." : "Commit it, and run it again.",
  });
}

/** A line of a check's log. */
export interface LogEntry {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly event: "begin" | "end";
  readonly commit: string;
  /** First reported seed. */
  readonly seed: number;
  /** Digests of the check, of its worlds, of the method's code, and of everything else that a run is made by. */
  readonly digests: Readonly<Record<"check" | "world" | "method" | "engine", string>>;
  /** At the end: what was found. */
  readonly verdict?: CheckEvidence["verdict"];
  readonly effect?: number;
  readonly interval?: CheckEvidence["interval"];
}

/** Appends to `log.jsonl` in the check's folder. A run that breaks off leaves a beginning without an end. */
export function log(folder: string, entry: LogEntry): void {
  if (!isAbsolute(folder)) throw new Error(`log: ${folder} is not absolute`);
  appendFileSync(join(folder, "log.jsonl"), `${JSON.stringify(entry)}\n`);
}

/** The log of a check, empty before its first run. */
export function readLog(folder: string): readonly LogEntry[] {
  const file = join(folder, "log.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LogEntry);
}

/** What is known of a check before it runs. */
export interface Past {
  readonly evidence?: (CheckEvidence & Pick<StoredEvidence, "attempts" | "stated">) | undefined;
  readonly log: readonly LogEntry[];
  /** Of the check as it is now. */
  readonly digests: LogEntry["digests"];
}

/** Result of a check under the protocol, with the number of designs that were looked at. */
export interface Attempted extends Pick<StoredEvidence, "attempts" | "stated"> {
  readonly evidence: CheckEvidence;
}

/**
 * Runs a check on the seeds of its evidence first. Where it asks the same and finds the same, seed by seed, it is the same experiment,
 * however its code reads now. Anything else is a redesign: it is run on fresh seeds, with half the error of the design before, and
 * counts as one more attempt. So does what other code began on reported seeds, by the log, whether or not it came to evidence.
 */
export async function attempt(
  check: Check,
  { evidence: before, log: entries, digests }: Past,
  run: (options: RunCheckOptions) => Promise<CheckEvidence>,
): Promise<Attempted> {
  const others = entries.filter((entry) => !isDeepStrictEqual(entry.digests, digests));
  const looked = Math.max(before?.attempts ?? 0, ...others.map(({ seed }) => designAt(seed)));
  if (before && asksTheSame(before, check)) {
    const { seeds, confidence = looks.confidence, claim, metric, stated } = before;
    const evidence = await run({ base: seeds[0] ?? baseSeed, confidence });
    const isReworded = claim !== evidence.claim || metric !== evidence.metric;
    const first = stated ?? (isReworded ? { claim, metric } : undefined);
    if (sameFindings(before, evidence))
      return { evidence, attempts: looked, ...(first && { stated: first }) };
  }
  const attempts = looked + 1;
  const evidence = await run({
    base: baseSeed + seedsApart * looked,
    confidence: 1 - (1 - looks.confidence) / 2 ** looked,
    isNew: true,
  });
  return { evidence, attempts };
}

/** Whether a check's verdicts would follow from its numbers as those of the evidence do, at a level that is no higher. */
function asksTheSame(before: CheckEvidence, check: Check): boolean {
  const names = ({ simpler = [] }: Pick<Check, "simpler">): readonly string[] => [...simpler].sort();
  return (
    before.direction === check.direction &&
    near(before.smallestEffect, check.smallestEffect) &&
    isDeepStrictEqual(names(before), names(check)) &&
    levels.indexOf(check.level) <= levels.indexOf(before.level)
  );
}

/** Whether a run of a check found the same as one before, in every arm of it, seed by seed. */
export function sameFindings(before: CheckEvidence, again: CheckEvidence): boolean {
  const arms = (e: CheckEvidence): Readonly<Record<string, ArmEvidence>> => ({
    ...e.others,
    baseline: e.baseline,
    method: e.method,
  });
  return Object.entries(arms(before)).every(([name, { values }]) => {
    const found = arms(again)[name]?.values;
    return values.length === found?.length && values.every((x, i) => near(x, found[i]!));
  });
}

/** Evidence is stored with six digits. */
const near = (x: number, y: number): boolean =>
  Object.is(x, y) || Math.abs(x - y) <= 1e-5 * Math.max(1e-9, Math.abs(x), Math.abs(y));
