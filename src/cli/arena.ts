/** `whetstone arena`: trains a transformer with each method in a frozen task, and writes the leaderboard. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { type Arena, type ArenaRun, runInArena, seedsApart } from "../arenas/arena.ts";
import { type Excluded, excludedFrom, readExcluded, writeExcluded } from "../arenas/excluded.ts";
import { arenas } from "../arenas/index.ts";
import { leaderboard, leaderboardPage } from "../arenas/leaderboard.ts";
import { opponent, resultFiles } from "../arenas/results.ts";
import { arenaResult, arenaRunner, plannedRuns, untrained } from "../arenas/runs.ts";
import { replaceFile } from "../common/files/files.ts";
import { mean } from "../common/statistics/statistics.ts";
import { unknownName } from "../common/text/suggest.ts";
import { type ErrorCode, isWhetstoneError, messageOf, WhetstoneError } from "../core/errors.ts";
import type { Recipe } from "../method/method.ts";
import { findMethod, methods } from "../methods/catalogue.ts";
import { git, requireCommitted } from "./checkProtocol.ts";
import { onSignal } from "./interrupted.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, duration, type Io } from "./output.ts";

interface ArenaOptions {
  readonly family?: string;
  readonly seeds?: string;
  readonly baseSeed?: string;
  readonly iterations?: string;
  readonly threads?: string;
  readonly out?: string;
}

const src = join(import.meta.dirname, "..");
/** Everything but what the command itself writes. */
const codeAlone = [".", ":!arenas/*/runs.jsonl", ":!arenas/*/excluded.jsonl"];

/** Errors that say that a method and an arena do not fit. Any other is a fault, and no reason to leave a method out. */
const unfit: readonly ErrorCode[] = ["capability.missing", "config.invalid", "context.tooLong"];

export function addArena(program: Command, io: Io): void {
  addCommand(
    program,
    "arena",
    "Train a transformer with methods in a frozen task: tuned, paired with GRPO, on a leaderboard.",
    [
      "whetstone arena search rloo dapo ppo",
      "whetstone arena search --family credit",
      "whetstone arena search rloo --iterations 1 --out runs/trial    # a trial: its result stands on no leaderboard",
      "whetstone arena search grpo --seeds 20    # the spread of one method",
      "whetstone arena search rloo dapo --base-seed 1001    # once more, tuned and run on other seeds",
    ],
  )
    .argument("<name>", `arena: ${arenas.map(({ name }) => name).join(", ")}`)
    .argument("[methods...]", "methods (default: all that train weights)")
    .option("--family <names>", "only these families, with commas between")
    .option(
      "--seeds <n>",
      "reported runs of each method (default: as the arena says, which is also the least)",
    )
    .option(
      "--base-seed <n>",
      "first reported seed: 1, 1001, 2001, …; other tuning seeds belong to each",
      "1",
    )
    .option("--iterations <n>", "in place of the arena's budget, for a trial; needs --out")
    .option("--threads <n>", "runs at once (default: one per core)")
    .option(
      "--out <folder>",
      "where runs and leaderboard are written (default: the arena's folder and docs/)",
    )
    .action(async (name: string, ids: string[], options: ArenaOptions) => {
      const arena = arenas.find((one) => one.name === name);
      if (!arena)
        throw unknownName(
          "arena",
          name,
          arenas.map((one) => one.name),
        );
      await runArena(arena, chosen(ids, options.family), options, io);
    });
}

function chosen(ids: readonly string[], family: string | undefined): readonly Recipe[] {
  const families = family?.split(",").map((one) => one.trim());
  const known = [...new Set(methods.map((m) => m.family))];
  for (const one of families ?? []) if (!known.includes(one)) throw unknownName("--family", one, known);
  const all = ids.length > 0 ? ids.map((id) => findMethod(id, "arena")) : methods;
  return all.filter((m) => families?.includes(m.family) ?? true);
}

/** Makes the runs that are not there yet, and writes the page after each method. */
export async function runArena(
  arena: Arena,
  asked: readonly Recipe[],
  options: ArenaOptions,
  io: Io,
): Promise<void> {
  const seeds =
    options.seeds === undefined ? arena.seeds : statedNumber("--seeds", options.seeds, arena.seeds);
  const iterations =
    options.iterations === undefined ? undefined : statedNumber("--iterations", options.iterations, 1);
  const base = baseSeed(options.baseSeed);
  if (iterations !== undefined && options.out === undefined) throw trialNeedsFolder();
  if (iterations === undefined) requireCommitted(arena.name, src, codeAlone, "arena");
  const threads =
    options.threads === undefined ? availableParallelism() : statedNumber("--threads", options.threads, 1);
  const places = resultFiles(arena, options.out);
  const page = options.out === undefined ? leaderboardPage : join(options.out, "leaderboard.md");
  const commit = git(src, "rev-parse", "--short=12", "HEAD") ?? "";
  const byId = new Map(methods.map((m) => [m.id, m]));
  const baseline = byId.get(opponent)!;
  const excluded = new Map<string, Excluded>(readExcluded(places.excluded).map((e) => [e.method, e]));
  for (const { id, why } of methods.map((m) => ({ id: m.id, why: excludedFrom(m, arena.budget.iterations) })))
    if (why) excluded.set(id, { method: id, why });
  const able = [...new Set([baseline, ...asked])].flatMap((m) =>
    excludedFrom(m, arena.budget.iterations) ? [] : [m.id],
  );
  const arms = [untrained, ...able];
  const progress = progressOf(
    arms.reduce((sum, arm) => sum + plannedRuns(arena, arm, arm === untrained ? arena.seeds : seeds), 0),
    threads,
    io,
  );
  const stop = new AbortController();
  const unheard = onSignal(() => {
    io.error("Stopping; whole runs are kept, the same command goes on.");
    stop.abort();
  });
  const make = await arenaRunner(arena, {
    memory: places.runs,
    atOnce: threads,
    make: async (method, rate, seed) => {
      stop.signal.throwIfAborted();
      const recipe = method === untrained ? undefined : byId.get(method)!;
      return runInArena(arena, baseline, { recipe, rate, seed, commit, iterations, stop: stop.signal });
    },
    onResult: ({ arm, seed }, run, again) => progress(arm, seed, run, again),
  });
  try {
    for (const arm of arms) {
      try {
        await arenaResult(arena, arm, { base, seeds: arm === untrained ? arena.seeds : seeds }, make);
        excluded.delete(arm);
      } catch (e) {
        if (stop.signal.aborted || arm === untrained || arm === opponent) throw e;
        if (isWhetstoneError(e) && unfit.includes(e.code)) {
          const why = `${e.code}: ${e.message.split("\n")[0]}`;
          excluded.set(arm, { method: arm, why });
          io.error(`${arm}: left out, ${why}`);
        } else {
          io.error(`${arm}: failed, ${messageOf(e)}`);
          io.code = 1;
        }
      }
      writeExcluded(places.excluded, [...excluded.values()]);
    }
  } catch (e) {
    if (!stop.signal.aborted) throw e;
    io.code = 130;
  } finally {
    unheard();
    const shown =
      options.out === undefined
        ? arenas.map((one) => ({ arena: one, files: resultFiles(one) }))
        : [{ arena, files: places }];
    await replaceFile(page, await leaderboard(shown));
  }
  io.say(`Written: ${page}`);
}

function baseSeed(text: string | undefined): number {
  const base = text === undefined ? 1 : statedNumber("--base-seed", text, 1);
  if (base % seedsApart === 1 && base < 1e6) return base;
  throw new WhetstoneError("option.range", {
    where: "--base-seed",
    got: String(base),
    expected: `1 or 1 more than a multiple of ${seedsApart}, so that no seed is used twice`,
    fix: `For example --base-seed ${seedsApart + 1}.`,
  });
}

const trialNeedsFolder = (): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "--iterations",
    got: "no --out",
    expected: "a folder for runs with another budget than the arena's",
    fix: "Add for example --out runs/trial.",
  });

/** A line for each run that was made, with an estimate of what is left. */
function progressOf(total: number, threads: number, io: Io) {
  let left = total;
  const made: number[] = [];
  return (method: string, seed: number, run: ArenaRun, again: boolean): void => {
    left = Math.max(0, left - 1); // steps beyond a grid's end were not planned
    if (again) return;
    if (method !== untrained) made.push(run.seconds);
    // runs of the start itself are too short to say how long training takes
    const estimate = made.length === 0 ? "" : `, about ${duration((left * mean(made)) / threads)}`;
    const share = (x: number): string => `${(100 * x).toFixed(1)} %`;
    io.error(
      `${method}, seed ${seed}: ${share(run.test)} on test, ${share(run.validation)} on validation, ${duration(run.seconds)}; ${left} of ${total} runs left${estimate}`,
    );
  };
}
