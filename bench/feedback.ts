// Success against feedback spent: methods that hear critiques beside those that see outcomes alone.
//
//     node bench/feedback.ts            # what lies in bench/results/feedback.jsonl is not run again
//
// Writes the measured part of docs/comparisons/feedback-budget.md, the chart beside it, and the differences as data.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { asLines } from "../scripts/benchResults.ts";
import { replaceFile } from "../src/common/files/files.ts";
import { messageOf } from "../src/core/errors.ts";
import { chosenRate } from "./feedback/aggregate.ts";
import { type Contestant, contestants } from "./feedback/contestants.ts";
import { type Kept, keptIn } from "./feedback/kept.ts";
import {
  drawn,
  type Entry,
  type Measured,
  results as resultsOf,
  tables,
  withMeasured,
} from "./feedback/page.ts";
import { measured, type Run, type RunKey } from "./feedback/run.ts";
import { type World, worlds } from "./feedback/worlds.ts";
import { progress } from "./report.ts";

/** The same for every method and environment. */
const rates = [100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000];
const accuracies = [1, 0.8, 0.6];
/** Step sizes are chosen on seeds that are not reported, with critiques that are mostly true. */
const tuning = { seeds: [101, 102], accuracy: 0.8 };

interface Given {
  readonly seeds: number;
  readonly results: string;
  readonly page: string;
}

/** Runs what has not been run. */
async function runs(
  world: World,
  contestant: Contestant,
  keys: readonly Pick<RunKey, "accuracy" | "learningRate" | "seed">[],
  kept: Kept,
  stop: AbortSignal,
): Promise<readonly Run[]> {
  const done: Run[] = [];
  for (const { accuracy, learningRate, seed } of keys) {
    const { name, budget } = world;
    const key: RunKey = { world: name, method: contestant.id, accuracy, learningRate, seed, budget };
    let run = kept.find(key);
    if (run === undefined) {
      run = await measured(world, contestant, key, stop);
      kept.add(run);
    }
    done.push(run);
  }
  return done;
}

async function entryOf(
  world: World,
  contestant: Contestant,
  seeds: number,
  kept: Kept,
  stop: AbortSignal,
): Promise<Entry> {
  if (contestant.twice && typeof world.secondLook === "string") return { contestant, came: world.secondLook };
  const tried = rates.flatMap((learningRate) =>
    tuning.seeds.map((seed) => ({
      learningRate,
      seed,
      accuracy: contestant.hears ? tuning.accuracy : 1,
    })),
  );
  const rate = chosenRate(await runs(world, contestant, tried, kept, stop));
  const { learningRate } = rate;
  progress(`${world.name}, ${contestant.name}: step size ${learningRate}`);
  const byAccuracy = new Map<number, readonly Run[]>();
  for (const accuracy of contestant.hears ? accuracies : [1]) {
    const keys = Array.from({ length: seeds }, (_, i) => ({ accuracy, learningRate, seed: i + 1 }));
    byAccuracy.set(accuracy, await runs(world, contestant, keys, kept, stop));
    progress(`${world.name}, ${contestant.name}: ${seeds} seeds, critiquer ${100 * accuracy} %`);
  }
  return { contestant, came: { rate, runs: byAccuracy } };
}

async function measure({ seeds, results, page }: Given, stop: AbortSignal): Promise<void> {
  const kept = await keptIn(results);
  const all: Measured[] = [];
  for (const world of worlds) {
    const entries: Entry[] = [];
    for (const contestant of contestants) entries.push(await entryOf(world, contestant, seeds, kept, stop));
    all.push({ world, entries });
  }
  await replaceFile(page, withMeasured(readFileSync(page, "utf8"), tables(all)));
  await replaceFile(page.replace(/\.md$/, ".svg"), drawn(all, accuracies));
  await replaceFile(page.replace(/\.md$/, ".json"), asLines(resultsOf(all)));
  progress(`${page}, its chart and its data are written`);
}

function count(text: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError("Give a whole number of 1 or more.");
  return n;
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
try {
  await new Command("feedback")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .description(
      "Success against feedback spent, of six methods in three environments with critiquers of three accuracies.",
    )
    .option("--seeds <n>", "seeds 1 to n are reported", count, 8)
    .option(
      "--results <file>",
      "finished runs, a line each",
      join(import.meta.dirname, "results/feedback.jsonl"),
    )
    .option(
      "--page <file>",
      "the page whose measured part is written, and its chart beside it",
      join(import.meta.dirname, "../docs/comparisons/feedback-budget.md"),
    )
    .addHelpText("after", "\nCtrl-C keeps every finished run; the next start goes on from there.")
    .action((given: Given) => measure(given, stop.signal))
    .parseAsync();
} catch (e) {
  process.stderr.write(
    stop.signal.aborted ? "Interrupted; finished runs are kept.\n" : `feedback: ${messageOf(e)}\n`,
  );
  process.exit(stop.signal.aborted ? 130 : 1);
}
