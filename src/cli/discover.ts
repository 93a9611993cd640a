/** `whetstone discover`: searches for the best solution of one problem. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { type Command, Option } from "commander";
import { replaceFile } from "../common/files/files.ts";
import { counted } from "../common/text/counted.ts";
import { printable } from "../common/text/oneLine.ts";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import { type Archive, bestOf, lineageOf, type Strategy } from "../discover/archive.ts";
import {
  defineProblem,
  isOptimal,
  type Problem,
  problemEnvironment,
  requireStarts,
} from "../discover/problem.ts";
import { type SearchOptions, searchMethod } from "../discover/search.ts";
import type { Engine } from "../engine/engine.ts";
import { makeEngine } from "./catalogue.ts";
import { type ChatFlags, chatOf, withChatFlags } from "./chat.ts";
import { onSignal } from "./interrupted.ts";
import { loadModule } from "./module.ts";
import { statedNumber } from "./numbers.ts";
import { addCommand, folded, type Io, number } from "./output.ts";

interface DiscoverOptions extends ChatFlags {
  readonly evaluations: string;
  readonly search: Strategy;
  readonly learn?: true;
  readonly edits: string;
  readonly groups: string;
  readonly groupSize: string;
  readonly learningRate?: string;
  readonly seed: string;
  readonly out?: string;
  readonly resume?: true;
}

export function addDiscover(program: Command, io: Io): void {
  const command = addCommand(
    program,
    "discover",
    "Search for the best solution of one problem, which a function scores.",
    [
      "whetstone discover packing.ts",
      "whetstone discover packing.ts --search evolution --evaluations 10000",
      "whetstone discover packing.ts --learn --groups 16",
      "whetstone discover prompt.ts --chat http://127.0.0.1:8080/v1 --model qwen3 --evaluations 200",
      "whetstone discover packing.ts --out runs/discover-packing-1 --resume",
    ],
  );
  withChatFlags(command)
    .argument("<problem.ts>", "module whose default export is a problem; see docs/discover.md")
    .option("--evaluations <n>", "candidates to score", "3200")
    .addOption(
      new Option(
        "--search <how>",
        "which candidates the next ones are made from: a tree by PUCT, survivors of evolution, or the starts again and again",
      )
        .choices(["puct", "evolution", "restart"])
        .default("puct"),
    )
    .option("--learn", "a small model proposes the edits, and learns while it searches")
    .option("--edits <n>", "edits from one candidate to the next", "1")
    .option("--groups <n>", "candidates of an iteration that others are made from", "8")
    .option("--group-size <n>", "candidates made from each", "8")
    .option("--learning-rate <x>", "with --learn: step size (default: 5e-5)")
    .option("--seed <n>", "seed of every random stream", "1")
    .option("--out <folder>", "folder of the search (default: runs/discover-<problem>-<seed>)")
    .option("--resume", "resume the search in --out")
    .action((file: string, options: DiscoverOptions) => discover(file, options, io));
}

/** Why a search ends before its budget. */
const found = Symbol("the best score that exists was found");

async function discover(file: string, options: DiscoverOptions, io: Io): Promise<void> {
  const problem = defineProblem((await loadModule(file)) as Problem);
  const search = searchOf(options);
  const seed = statedNumber("--seed", options.seed);
  const name = basename(file, extname(file));
  const out = options.out ?? join("runs", `discover-${name}-${seed}`);
  const environment = problemEnvironment(problem, search);
  await requireStarts(problem, search);
  const stop = new AbortController();
  const engine = await engineOf(options, search.by, stop.signal);
  const watch = watchOf(problem, search.evaluations, io, () => stop.abort(found));
  const off = onSignal(() => {
    io.error("Saving. Press Ctrl-C again to end at once.");
    stop.abort();
  });
  try {
    const { train } = await import("../train/run.ts");
    await train(
      {
        ...{ environment, engine, seed, out, resume: options.resume === true },
        method: searchMethod(problem, { ...search, onArchive: watch.see }),
        iterations: Math.ceil(search.evaluations / search.groupSize),
        episodes: Math.max(1, search.evaluations - problem.starts.length),
        warmStart: false,
        evaluation: { tasks: 0, every: 0 },
        parts: { discover: { file: name, ...search } },
      },
      (event) => {
        // what is said of environments for learning in general does not hold for one problem
        if (event.type === "warning" && event.check === undefined)
          folded(io, `warning: ${event.message}`).forEach(io.error);
      },
      stop.signal,
    );
  } catch (e) {
    if (isWhetstoneError(e) && e.code === "run.exists") throw searchExists(out, file);
    if (!stop.signal.aborted || e !== stop.signal.reason) throw e;
    if (stop.signal.reason !== found) io.code = 130;
  } finally {
    off();
    await engine.dispose();
  }
  await report(out, problem, watch.archive(), io);
  if (io.code === 130) io.error(`Interrupted. Go on with: whetstone discover ${file} --out ${out} --resume`);
}

function searchOf(options: DiscoverOptions): Omit<SearchOptions, "onArchive"> {
  const { chat, learn, search: strategy, learningRate } = options;
  if (chat !== undefined && learn) {
    throw new WhetstoneError("option.range", {
      where: "--learn",
      got: "it beside --chat",
      expected: "one of the two: a model behind an API cannot be trained",
      fix: "Leave one of them out.",
    });
  }
  return {
    strategy,
    by: learn ? "learner" : chat === undefined ? "random" : "model",
    writes: chat === undefined ? "moves" : "whole",
    edits: statedNumber("--edits", options.edits, 1, 100),
    groups: statedNumber("--groups", options.groups, 1),
    groupSize: statedNumber("--group-size", options.groupSize, learn ? 2 : 1),
    evaluations: statedNumber("--evaluations", options.evaluations, 1),
    ...(learningRate === undefined ? {} : { learningRate: Number(learningRate) }),
  };
}

async function engineOf(
  options: DiscoverOptions,
  by: SearchOptions["by"],
  stop: AbortSignal,
): Promise<Engine> {
  if (by === "learner") return await makeEngine("local");
  // nobody acts by a table when a program draws the edits
  if (by === "random") return await makeEngine("tabular");
  const { chatEngine } = await import("../engine/chat/engine.ts");
  return chatEngine(chatOf(options, stop));
}

/** Says how the search goes, and ends it when no better candidate exists. */
function watchOf(problem: Problem, evaluations: number, io: Io, end: () => void) {
  let last: Archive | undefined;
  let said: number | undefined;
  let at = performance.now();
  return {
    archive: () => last,
    see(archive: Archive): void {
      last = archive;
      const best = bestOf(archive);
      if (!best) return;
      const now = performance.now();
      if (said !== best.score || now - at > everyMs) {
        const line = `${archive.evaluations} of ${evaluations} scored: best ${number(best.score)}, found at ${best.at}`;
        io.record({ type: "progress", evaluations: archive.evaluations, best: best.score, at: best.at });
        io.say(line);
        [said, at] = [best.score, now];
      }
      if (isOptimal(problem, best.score)) end();
    },
  };
}

/** Milliseconds after which a search without news says where it is. */
const everyMs = 10_000;

/** Writes what was found, with where it came from. */
async function report(out: string, problem: Problem, archive: Archive | undefined, io: Io): Promise<void> {
  const file = join(out, "discover.json");
  const best = archive && bestOf(archive);
  if (!archive || !best) {
    // a search that was finished before is resumed: nothing was chosen
    if (existsSync(file))
      io.say(`Finished before: ${file}`, printable(await readFile(join(out, "best.txt"), "utf8")));
    return;
  }
  const lineage = lineageOf(archive, best).map(({ candidate, score, at }) => ({ candidate, score, at }));
  const { optimum } = problem;
  const reached = isOptimal(problem, best.score);
  const summary = {
    problem: problem.name,
    ...{ best: best.candidate, score: best.score, at: best.at, evaluations: archive.evaluations },
    ...(optimum === undefined ? {} : { optimum, reached }),
  };
  await replaceFile(file, `${JSON.stringify({ ...summary, lineage, bests: archive.bests }, null, 1)}\n`);
  await replaceFile(join(out, "best.txt"), `${best.candidate}\n`);
  io.record({ type: "done", out, ...summary });
  io.say(
    "",
    // a model may have written it
    printable(best.candidate),
    "",
    ...folded(
      io,
      `Score ${number(best.score)}${optimum === undefined ? "" : reached ? ", the best that exists" : ` of ${number(optimum)}`}, found at ${best.at} of ${counted(archive.evaluations, "candidate")}, ${counted(lineage.length - 1, "step")} from where the search began.`,
    ),
    `Written: ${file} and best.txt`,
  );
  const made = archive.evaluations - problem.starts.length;
  if (made > 0 && archive.valid === 0) {
    io.error(`whetstone: none of the ${made} candidates that were made is valid: nothing was searched.`);
    io.code ||= 1;
  }
}

const searchExists = (out: string, file: string): WhetstoneError =>
  new WhetstoneError("run.exists", {
    where: "--out",
    got: `${out}, which already contains a search`,
    expected: "a new folder",
    fix: `Resume it with: whetstone discover ${file} --out ${out} --resume; or name another folder.`,
  });
