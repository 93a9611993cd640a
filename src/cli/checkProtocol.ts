/**
 * The order in which a check may be run: committed before anything of it runs, every run logged, and a redesign after a look on fresh
 * seeds at half the error of the design before.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { looks } from "../common/statistics/statistics.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { CheckEvidence, RunCheckOptions } from "../train/check.ts";

/** First reported seed of a first design. */
export const baseSeed = 1;
/** Seeds of one design lie this far from those of the next. */
const seedsApart = 1000;

/** A command of git in a folder. Undefined where git or the repository is missing. */
export function git(folder: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", [...args], { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
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
    status === undefined ? "no git repository" : `${status.split("\n")[0]!.slice(3)}, which is not committed`;
  throw new WhetstoneError("config.invalid", {
    where: `${kind} "${id}"`,
    got,
    expected: `${kind === "check" ? "a check that is committed, with its worlds," : "an arena and code that are committed"} before anything of it runs`,
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

/** Result of a check under the protocol, with the number of designs that were looked at. */
export interface Attempted {
  readonly evidence: CheckEvidence;
  readonly attempts: number;
}

/**
 * Runs a check on the seeds of its evidence first. Where it finds the same, seed by seed, it is the same experiment, however its
 * code reads now. Where it finds something else, it is a redesign: it is run again on fresh seeds, with half the error of the design
 * before, and counts as one more attempt.
 */
export async function attempt(
  before: (CheckEvidence & { readonly attempts: number }) | undefined,
  run: (options: RunCheckOptions) => Promise<CheckEvidence>,
): Promise<Attempted> {
  if (!before) return { evidence: await run({ base: baseSeed, isNew: true }), attempts: 1 };
  const again = await run({
    base: before.seeds[0] ?? baseSeed,
    confidence: before.confidence ?? looks.confidence,
  });
  if (sameFindings(before, again)) return { evidence: again, attempts: before.attempts };
  const attempts = before.attempts + 1;
  const error = (1 - (before.confidence ?? looks.confidence)) / 2;
  const base = baseSeed + seedsApart * (attempts - 1);
  return { evidence: await run({ base, confidence: 1 - error, isNew: true }), attempts };
}

/** Whether two runs of a check found the same in both arms, seed by seed. */
export function sameFindings(a: CheckEvidence, b: CheckEvidence): boolean {
  const near = (x: number, y: number | undefined): boolean =>
    y !== undefined &&
    (Object.is(x, y) || Math.abs(x - y) <= 1e-5 * Math.max(1e-9, Math.abs(x), Math.abs(y)));
  return (["baseline", "method"] as const).every(
    (arm) =>
      a[arm].values.length === b[arm].values.length &&
      a[arm].values.every((x, i) => near(x, b[arm].values[i])),
  );
}
