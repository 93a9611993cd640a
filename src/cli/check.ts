/** `whetstone check`: runs the methods' own experiments and writes down what came of them. */
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { replaceFile } from "../common/files/files.ts";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import { readEvidence, type StoredEvidence } from "../methods/evidence.ts";
import { type CheckEvidence, runCheck } from "../train/check.ts";
import { remembered } from "../train/experiment.ts";
import { type CheckFile, checkDigest, checkFiles, codeDigest, loadCheck, sourcesOf } from "./checkFiles.ts";
import { type Pool, startPool } from "./checkPool.ts";
import { onSignal } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, duration, type Io, number, paint } from "./output.ts";

interface CheckOptions {
  readonly family?: string;
  readonly seed: string;
  readonly threads?: string;
  readonly memory: string;
}

const baseSeed = 1;

export function addCheck(program: Command, io: Io): void {
  addCommand(program, "check", "Run the methods' checks, and write their evidence.", [
    "whetstone check igpo",
    "whetstone check --family advantage,credit,objective",
    "whetstone check igpo --seed 100    # other seeds: prints, writes nothing",
  ])
    .argument("[ids...]", "methods (default: all that have a check)")
    .option("--family <names>", "only these families, with commas between")
    .option("--seed <n>", "first of the reported seeds; only the default writes evidence", `${baseSeed}`)
    .option("--threads <n>", "runs at once (default: one per core)")
    .option("--memory <folder>", "where runs are remembered, so that a check can go on", "runs/checks")
    .action(async (ids: string[], options: CheckOptions) => {
      const files = chosenFiles(ids, options.family);
      const base = statedNumber("--seed", options.seed);
      const threads =
        options.threads === undefined
          ? availableParallelism()
          : statedNumber("--threads", options.threads, 1);
      const pool = startPool(threads);
      const code = codeDigest();
      const unheard = onSignal(() => {
        io.error("Stopped; what was measured is kept, the same command goes on.");
        process.exit(130);
      });
      try {
        let left = files.length;
        // as many checks side by side as there are threads: the last runs of one need not wait for each other
        const queue = [...files];
        const work = async (): Promise<void> => {
          for (let file = queue.shift(); file; file = queue.shift()) {
            await one(file, { pool, base, memory: options.memory, code, io });
            left--;
            if (left > 0) io.error(`${left} of ${files.length} checks left`);
          }
        };
        await Promise.all(Array.from({ length: threads }, work));
      } finally {
        unheard();
        await pool.close();
      }
    });
}

function chosenFiles(ids: readonly string[], family: string | undefined): readonly CheckFile[] {
  const all = checkFiles();
  if (all.length === 0) {
    throw new WhetstoneError("checkpoint.missing", {
      where: "whetstone check",
      got: "an installed package, which has no checks",
      expected: "a clone of the repository; the package has the evidence",
      fix: "Run it in a clone of the repository, or look at: whetstone explain ID",
    });
  }
  const families = family?.split(",").map((name) => name.trim());
  const known = [...new Set(all.map((f) => f.family))];
  for (const name of families ?? []) if (!known.includes(name)) throw unknownName("--family", name, known);
  for (const id of ids)
    if (!all.some((f) => f.id === id)) {
      throw unknownName(
        "check",
        id,
        all.map((f) => f.id),
      );
    }
  return all.filter(
    (f) => (ids.length === 0 || ids.includes(f.id)) && (families?.includes(f.family) ?? true),
  );
}

interface Surroundings {
  readonly pool: Pool;
  readonly base: number;
  readonly memory: string;
  /** Digest of the code. */
  readonly code: string;
  readonly io: Io;
}

async function one(file: CheckFile, { pool, base, memory, code, io }: Surroundings): Promise<void> {
  const check = await loadCheck(file.file);
  const began = performance.now();
  const digest = checkDigest(file);
  let runs = 0;
  let said = performance.now();
  const progress = (): void => {
    runs++;
    if (performance.now() - said < 5000) return;
    said = performance.now();
    io.error(`${file.id}: ${runs} runs, ${duration((performance.now() - began) / 1000)}`);
  };
  const make = remembered({
    make: (unit) => pool.run({ file: file.file, unit }),
    memory: join(memory, `${file.id}-${digest}-${code}.jsonl`),
    onResult: progress,
  });
  const evidence = await runCheck(check, make, base);
  const seconds = (performance.now() - began) / 1000;
  const written = base === baseSeed && (await write(file, evidence, { digest, seconds }, io));
  report(file, evidence, written, seconds, io);
}

const git = (...args: string[]): string => {
  try {
    return execFileSync("git", args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  } catch {
    return "";
  }
};

/** CheckEvidence is written for a check that was committed as it is: what is claimed comes before what is found. */
async function write(
  file: CheckFile,
  evidence: CheckEvidence,
  { digest, seconds }: { readonly digest: string; readonly seconds: number },
  io: Io,
): Promise<boolean> {
  const sources = sourcesOf(file).map((name) => join(import.meta.dirname, "..", name));
  const changed = git("status", "--porcelain", "--", ...sources).split("\n")[0];
  if (changed) {
    io.error(`${file.id}: no evidence is written, since ${changed.slice(3)} is not committed.`);
    return false;
  }
  const before = readEvidence(file.id);
  const stored: StoredEvidence = {
    ...evidence,
    family: file.family,
    attempts: before
      ? before.attempts + (before.check === digest || sameFindings(before, evidence) ? 0 : 1)
      : 1,
    check: digest,
    seconds: Math.round(seconds),
    commit: git("rev-parse", "--short=12", "HEAD"),
  };
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
  await replaceFile(join(file.path, "evidence.json"), `${JSON.stringify(stored, rounded, 1)}\n`);
  return true;
}

/** A check that was only written differently is no further attempt: it finds the same, seed by seed. */
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

function report(file: CheckFile, e: CheckEvidence, written: boolean, seconds: number, io: Io): void {
  const { id, verdict, effect, interval, baseline, method } = e;
  io.record({
    id,
    family: file.family,
    verdict,
    effect,
    interval,
    seeds: e.seeds,
    baseline,
    method,
    written,
    seconds,
  });
  const style = { reproduced: "green", inconclusive: "yellow", "not reproduced": "red" } as const;
  const sign = (x: number): string => `${x > 0 ? "+" : ""}${number(x)}`;
  const mean = (values: readonly number[]): string =>
    number(values.reduce((a, b) => a + b, 0) / values.length);
  io.say(
    `${paint(io, style[verdict], verdict.padEnd(14))} ${id.padEnd(24)} ${sign(effect)} [${sign(interval.low)}, ${sign(interval.high)}]  ${e.metric}: ${mean(baseline.values)} → ${mean(method.values)}, ${e.seeds.length} seeds, ${duration(seconds)}`,
  );
  for (const arm of [baseline, method])
    if (arm.atEdge)
      io.error(
        `${id}: the best choice of "${arm.what}" (${JSON.stringify(arm.chosen)}) lies at its grid's edge.`,
      );
}
