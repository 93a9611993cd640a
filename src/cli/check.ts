/** `whetstone check`: runs the methods' own experiments and writes down what came of them. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { replaceFile } from "../common/files/files.ts";
import { unknownName } from "../common/text/suggest.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { readEvidence, type StoredEvidence } from "../methods/evidence.ts";
import { type CheckEvidence, type RunCheckOptions, runCheck } from "../train/check.ts";
import { remembered } from "../train/experiment.ts";
import {
  type CheckFile,
  checkDigest,
  checkFiles,
  codeDigest,
  digestsOf,
  loadCheck,
  sharedCode,
  sourcesOf,
} from "./checkFiles.ts";
import { type Pool, startPool } from "./checkPool.ts";
import { attempt, baseSeed, firstSeed, git, log, readLog, requireCommitted } from "./checkProtocol.ts";
import { onSignal } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, duration, type Io, number, paint } from "./output.ts";

interface CheckOptions {
  readonly family?: string;
  readonly seed: string;
  readonly threads?: string;
  readonly memory: string;
}

export function addCheck(program: Command, io: Io): void {
  addCommand(program, "check", "Run the methods' checks, and write their evidence.", [
    "whetstone check igpo",
    "whetstone check --family advantage,credit,objective",
    "whetstone check igpo --seed 100    # other seeds: prints, and logs the run",
  ])
    .argument("[ids...]", "methods (default: all that have a check)")
    .option("--family <names>", "only these families, separated by commas")
    .option(
      "--seed <n>",
      "first seed; only the default writes evidence, others are for trials",
      `${baseSeed}`,
    )
    .option("--threads <n>", "runs at once (default: one per core)")
    .option(
      "--memory <folder>",
      "folder that keeps finished runs, so that an interrupted check can resume",
      "runs/checks",
    )
    .action(async (ids: string[], options: CheckOptions) => {
      const files = chosenFiles(ids, options.family);
      const base = firstSeed(options.seed);
      const threads =
        options.threads === undefined
          ? availableParallelism()
          : statedNumber("--threads", options.threads, 1);
      const pool = startPool(threads);
      const code = codeDigest();
      const unheard = onSignal(() => {
        io.error("Stopped. Finished runs are kept; the same command resumes.");
        process.exit(130);
      });
      try {
        let left = files.length;
        // as many checks side by side as there are threads: the last runs of one need not wait for each other
        const queue = [...files];
        const failed: { readonly id: string; readonly why: unknown }[] = [];
        const work = async (): Promise<void> => {
          for (let file = queue.shift(); file; file = queue.shift()) {
            const { id } = file;
            // the others go on, which may take an hour
            await one(file, { pool, base, memory: options.memory, code, io }).catch((why: unknown) => {
              failed.push({ id, why });
              if (files.length > 1) io.error(`${id} failed: ${messageOf(why)}`);
            });
            left--;
            if (left > 0) io.error(`${left} of ${files.length} checks left`);
          }
        };
        await Promise.all(Array.from({ length: threads }, work));
        if (failed.length > 1)
          io.error(`${failed.length} checks failed: ${failed.map(({ id }) => id).join(", ")}`);
        if (failed[0]) throw failed[0].why;
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
      where: "check",
      got: "an installed package, which does not contain the checks",
      expected: "a clone of the repository",
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
  requireCommitted(file.id, sourceFolder, [...sourcesOf(file), ...sharedCode]);
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
  const commit = git(sourceFolder, "rev-parse", "--short=12", "HEAD") ?? "";
  const digests = digestsOf(file);
  const run = async (options: RunCheckOptions): Promise<CheckEvidence> => {
    const entry = { commit, seed: options.base ?? baseSeed, digests };
    log(file.path, { at: new Date().toISOString(), event: "begin", ...entry });
    const found = await runCheck(check, make, options);
    const { verdict, effect, interval } = found;
    log(file.path, { at: new Date().toISOString(), event: "end", ...entry, verdict, effect, interval });
    return found;
  };
  const before = readEvidence(file.id);
  const seconds = (): number => (performance.now() - began) / 1000;
  if (base !== baseSeed) {
    const tried = await run({ base, isNew: before === undefined });
    return report(file, tried, false, seconds(), io);
  }
  const made = await attempt(check, { evidence: before, log: readLog(file.path), digests }, run);
  if (made.attempts > (before?.attempts ?? 1))
    io.error(
      `${file.id}: other designs were looked at before, by evidence and log: attempt ${made.attempts}.`,
    );
  const stored: StoredEvidence = {
    ...made.evidence,
    family: file.family,
    attempts: made.attempts,
    ...(made.stated && { stated: made.stated }),
    check: digest,
    seconds: Math.round(seconds()),
    commit,
  };
  await replaceFile(join(file.path, "evidence.json"), `${JSON.stringify(stored, rounded, 1)}\n`);
  report(file, made.evidence, true, seconds(), io);
}

/** The folder that paths of sources start from. */
const sourceFolder = join(import.meta.dirname, "..");

const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

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
        `${id}: the best choice of "${arm.what}" (${JSON.stringify(arm.chosen)}) lies at the edge of its grid.`,
      );
}
