/** `whetstone eval`: how well a trained policy does; for people and for CI. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import { randomStream } from "../core/random.ts";
import { unknownName } from "../core/suggest.ts";
import type { Environment } from "../env/environment.ts";
import { findCheckpoint } from "../train/checkpoint.ts";
import { evaluate } from "../train/evaluate.ts";
import type { EvaluationResult } from "../train/events.ts";
import { limitConcurrency } from "../train/limit.ts";
import { type Begun, begunConfig, begunEnvironment, begunRun } from "./begun.ts";
import { makeEngine, requireEnvironment } from "./catalogue.ts";
import { statedNumber } from "./options.ts";
import { addCommand, duration, type Io, interval, number, percent } from "./output.ts";
import { existingStore, requireRun, storeOption } from "./runs.ts";

interface EvalOptions {
  readonly env?: string;
  readonly split?: string;
  readonly tasks?: string;
  readonly greedy?: true;
  readonly seed: string;
  readonly failUnder?: string;
  readonly store: string;
}

export function addEval(program: Command, io: Io): void {
  addCommand(program, "eval", "Measure a run or a checkpoint on held-out tasks.", [
    "whetstone eval facts-grpo-1",
    "whetstone eval runs/facts-grpo-1/best --greedy --tasks 400",
    "whetstone eval facts-grpo-1 --fail-under 0.8 --json",
  ])
    .argument("<run-or-checkpoint>", "a run's id or folder, or the folder of a checkpoint")
    .option("--env <name>", "environment, or a module that exports one (default: the run's own)")
    .option("--split <name>", "set of tasks (default: the first held-out one)")
    .option("--tasks <n>", "most tasks (default: all)")
    .option("--greedy", "take the most probable action instead of sampling")
    .option("--seed <n>", "seed of the sampling", "1")
    .option("--fail-under <share>", "exit 1 when success is below this share, from 0 to 1")
    .option(...storeOption)
    .action(async (name: string, options: EvalOptions) => {
      const least = options.failUnder === undefined ? undefined : share("--fail-under", options.failUnder);
      const folder = existsSync(name) ? name : await folderOf(name, options.store);
      const { weights, begun } = await weightsOf(folder);
      const environment = await environmentOf(options.env, begun);
      const split = options.split ?? heldOut(environment);
      if (!environment.splits.includes(split)) throw unknownName("--split", split, environment.splits);
      const seed = statedNumber("--seed", options.seed);
      const tasks =
        options.tasks === undefined ? Number.POSITIVE_INFINITY : statedNumber("--tasks", options.tasks, 1);
      const engine = await makeEngine(begun?.stated.engine ?? "local");
      const stop = new AbortController();
      const interrupt = (): void => stop.abort();
      process.once("SIGINT", interrupt);
      let result: EvaluationResult;
      try {
        const agent = await engine.open("policy", weights);
        const mode = options.greedy ? "greedy" : "sampled";
        const limit = limitConcurrency(64);
        const random = randomStream(seed);
        const asked = { environment, agent, split, mode, tasks, random, limit, stop: stop.signal } as const;
        result = (await evaluate(asked)).result;
      } catch (e) {
        if (!stop.signal.aborted) throw e;
        io.say("Interrupted.");
        io.code = 130;
        return;
      } finally {
        process.off("SIGINT", interrupt);
        await engine.dispose();
      }
      const passed = least === undefined || result.success.mean >= least;
      io.record({
        type: "evaluation",
        folder,
        ...result,
        ...(least !== undefined && { failUnder: least, passed }),
      });
      io.say(
        `${result.split}, ${result.mode}: success ${interval(result.success)}, reward ${number(result.reward)}, ${number(result.turns)} turns, ${result.tasks} tasks, ${duration(result.seconds)}`,
      );
      if (result.failed > 0) io.say(`${result.failed} failed episodes are left out.`);
      if (!passed) {
        io.error(`whetstone: success ${percent(result.success.mean)} is under ${percent(least)}.`);
        io.code = 1;
      }
    });
}

const heldOut = ({ splits }: Environment): string =>
  splits.find((s) => s !== "train" && s !== "validation") ?? splits.at(-1)!;

/** A run's record and the folder that it lies in. */
type Found = Begun & { readonly at: string };

async function environmentOf(named: string | undefined, begun: Found | undefined): Promise<Environment> {
  if (named !== undefined) return requireEnvironment("--env", named);
  if (begun) return begunEnvironment(begun.at, begun, await begunConfig(begun.at, begun));
  throw new WhetstoneError("option.range", {
    where: "--env",
    got: "none, and no run.json above the checkpoint that says it",
    expected: "an environment",
    mend: "Name one: see whetstone envs.",
  });
}

/** The weights that a folder stands for, and the run around them where there is one. */
async function weightsOf(
  folder: string,
): Promise<{ readonly weights: string; readonly begun: Found | undefined }> {
  if (!statSync(folder).isDirectory()) {
    throw new WhetstoneError("checkpoint.missing", {
      where: "eval",
      got: `${folder}, which is a file`,
      expected: "the folder of a run or of a checkpoint",
      mend: "Name the folder that the file lies in.",
    });
  }
  const begun = begunAt(folder);
  if (!existsSync(join(folder, "run.json"))) {
    const inside = join(folder, "models", "policy");
    const weights = existsSync(inside) ? inside : folder;
    if (readdirSync(weights).some((name) => name.endsWith(".json"))) return { weights, begun };
    throw new WhetstoneError("checkpoint.missing", {
      where: "eval",
      got: `${folder}, which holds no model`,
      expected: "the folder of a run or of a checkpoint",
      mend: "Name a run's folder, or its `final` or `best`.",
    });
  }
  // a run that ended, the best so far of one that has not, its last checkpoint
  for (const name of ["final", "best"])
    if (existsSync(join(folder, name))) return { weights: join(folder, name), begun };
  const last = await findCheckpoint(folder);
  if (last) return { weights: join(last.folder, "models", "policy"), begun };
  throw new WhetstoneError("checkpoint.missing", {
    where: "eval",
    got: `a run without a checkpoint in ${folder}`,
    expected: "one that has saved at least once",
    mend: "Go on with it by --resume, or name another.",
  });
}

/** What the nearest run.json says, in the folder or above it. */
function begunAt(folder: string): Found | undefined {
  let at = resolve(folder);
  for (let up = 0; up < 5; up++) {
    const begun = begunRun(at);
    if (begun) return { ...begun, at };
    at = dirname(at);
  }
  return undefined;
}

async function folderOf(name: string, file: string): Promise<string> {
  if (!existsSync(file)) {
    throw new WhetstoneError("checkpoint.missing", {
      where: "eval",
      got: `"${name}", which is no folder, and no store ${file} to find a run in`,
      expected: "a run or a checkpoint",
      mend: "Give the folder of a run or checkpoint, or --store.",
    });
  }
  const store = await existingStore(file);
  try {
    return (await requireRun(store, name)).folder;
  } finally {
    await store.close();
  }
}

function share(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1) return value;
  throw new WhetstoneError("option.range", {
    where: flag,
    got: `"${text}"`,
    expected: "a share from 0 to 1",
    mend: "Write 0.8 for 80 %.",
  });
}
