/** `whetstone train`: a run. */
import type { Command } from "commander";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import type { EvaluationResult, RunEvent } from "../train/events.ts";
import type { RunSummary } from "../train/run.ts";
import { makeEngine } from "./catalogue.ts";
import { loadConfig } from "./config.ts";
import { freeFolder } from "./freeFolder.ts";
import { onSignal } from "./interrupted.ts";
import { createView } from "./live.ts";
import { liveDashboard } from "./liveDashboard.ts";
import { addRunOptions, type StatedRun, statedRun } from "./options.ts";
import { addCommand, downloading, folded, type Io } from "./output.ts";
import { printReport, type RunReport } from "./report.ts";
import { trainPlan } from "./trainPlan.ts";

export function addTrain(program: Command, io: Io): void {
  const command = addCommand(program, "train", "Train an agent.", [
    "whetstone train --env facts --method grpo",
    "whetstone train config.ts --budget 10m",
    "whetstone train --env facts --method rloo --seed 2 --out runs/rloo-2 --json",
    "whetstone train --out runs/rloo-2 --resume",
    "whetstone train --env facts --live",
    "whetstone train --env facts --model Qwen/Qwen2.5-0.5B-Instruct --lora 16",
    "whetstone train --env facts --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16",
    "whetstone train --engine tinker --url http://127.0.0.1:8000 --base-model tiny --tokenizer models/tiny --lora 16",
    "whetstone train --engine chat --url https://api.openai.com/v1 --model gpt-5-mini --method gepa --max-spend 2 --price 0.25,2",
    "whetstone train --from-feedback runs/whetstone.sqlite --method dpo --set imitation=1 --model Qwen/Qwen2.5-0.5B-Instruct --lora 16",
  ]).argument("[config.ts]", "module whose default export configures the run; options override it");
  addRunOptions(command)
    .option("--live", "show the run live in a browser; prints the address")
    .action(async (file: string | undefined, { live, ...options }: Record<string, unknown>) => {
      const config = file === undefined ? {} : await loadConfig(file);
      const line = statedRun(options);
      const stated = {
        ...config,
        ...line,
        evaluation: { ...config.evaluation, ...line.evaluation },
        settings: { ...config.settings, ...line.settings },
        options: { ...config.options, ...line.options },
      };
      const outIn = line.out === undefined && config.out !== undefined ? file : undefined;
      await trainRun(stated, io, {
        ...(file !== undefined && { file }),
        ...(outIn !== undefined && { outIn }),
        live: live === true,
      });
    });
}

/** Runs to the end, or until Ctrl-C, which saves. Sets the exit code. @param beside the config file, if any, whether the run's folder is named in it, and a live page. */
export async function trainRun(
  asked: StatedRun,
  io: Io,
  {
    file,
    outIn,
    live = false,
  }: { readonly file?: string; readonly outIn?: string; readonly live?: boolean } = {},
): Promise<void> {
  const plan = await trainPlan(asked, file);
  const { out, store } = plan;
  const { trainByConfig } = await import("../train/run.ts");
  const view = await createView(io);
  const stop = new AbortController();
  const engine = await makeEngine(plan.engine, plan.engineOptions, {
    progress: downloading(io),
    say: (line) => view.above(() => io.say(...folded(io, line))),
    stop: stop.signal,
  });
  const speeds: number[] = [];
  let page: { close(): void } | undefined;
  let unheard = (): void => {};
  const report = (event: RunEvent): void => {
    // before the run has begun there is nothing to save: until then a signal ends the process
    if (event.type === "start") {
      unheard = onSignal(() => {
        view.above(() => io.error("Saving. Press Ctrl-C again to end at once."));
        stop.abort();
      });
      if (live) page = liveDashboard(store, io);
    }
    view.show(event);
    // 0 where all was sampled before the run went on
    if (event.type === "iteration" && event.tokensPerSecond > 0) speeds.push(event.tokensPerSecond);
  };

  try {
    const { config, parts } = await plan.made(engine);
    const done = await trainByConfig(config, parts, report, stop.signal);
    view.close();
    if (!io.json) await printReport({ ...done, ...measured(done), tokensPerSecond: average(speeds) }, io);
  } catch (e) {
    if (isWhetstoneError(e) && e.code === "run.exists") throw runExists(out, outIn);
    if (!stop.signal.aborted || e !== stop.signal.reason) throw e;
    io.code = 130;
  } finally {
    view.close();
    unheard();
    page?.close();
    await engine.dispose();
  }
}

const average = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / Math.max(1, xs.length);

/** Every evaluation of a run as it was reported. */
function measured({ before, after, iterations }: RunSummary): Pick<RunReport, "evaluations"> {
  const said = (when: "before" | "after", iteration: number) => (e: EvaluationResult) =>
    ({ type: "evaluation", when, iteration, ...e }) as const;
  return { evaluations: [...before.map(said("before", 0)), ...after.map(said("after", iterations))] };
}

/** @param config the file that names the folder, where it was not named on the command line. */
const runExists = (out: string, config: string | undefined): WhetstoneError =>
  new WhetstoneError("run.exists", {
    where: config === undefined ? "--out" : `${config}, out`,
    got: `${out}, which already contains a run`,
    expected: "a new folder",
    fix: `Begin another one with --out ${nextFree(out)}, or go on with that one: whetstone train --out ${out} --resume.`,
  });

/** The folder with the next number: runs/doors-2 after runs/doors-1. */
function nextFree(out: string): string {
  const [, name = out, number = "1"] = /^(.*?)(?:-(\d+))?$/.exec(out) ?? [];
  return freeFolder(name, Number(number) + 1);
}
