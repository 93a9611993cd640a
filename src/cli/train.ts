/** `whetstone train`: a run. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { RunEvent } from "../train/events.ts";
import { type EngineName, engineNames, makeEngine, requireEnvironment, requireMethod } from "./catalogue.ts";
import { loadConfig } from "./config.ts";
import { seconds } from "./durations.ts";
import { createView } from "./live.ts";
import { addRunOptions, type StatedRun, statedRun } from "./options.ts";
import { addCommand, type Io } from "./output.ts";
import { defaultStore, printReport } from "./report.ts";

export function addTrain(program: Command, io: Io): void {
  const command = addCommand(program, "train", "Train an agent: a run.", [
    "whetstone train --env facts --method grpo",
    "whetstone train config.ts --budget 10m",
    "whetstone train --env facts --method rloo --seed 2 --out runs/rloo-2 --json",
    "whetstone train --out runs/rloo-2 --resume",
  ]).argument("[config.ts]", "a module whose default export states the run; options win over it");
  addRunOptions(command).action(async (file: string | undefined, options: Record<string, unknown>) => {
    const config = file === undefined ? {} : await loadConfig(file);
    const line = statedRun(options);
    await trainRun({ ...config, ...line, settings: { ...config.settings, ...line.settings } }, io);
  });
}

/** Runs to the end, or until Ctrl-C, which saves. Sets the exit code. */
export async function trainRun(asked: StatedRun, io: Io): Promise<void> {
  const stated = asked.resume ? { ...begunRun(asked.out), ...withoutAbsent(asked) } : asked;
  const {
    env = "facts",
    method = "grpo",
    engine: engineName = "local",
    seed = 1,
    budget,
    settings,
    ...rest
  } = stated;
  const environment = typeof env === "string" ? await requireEnvironment("--env", env) : env;
  const recipe = typeof method === "string" ? requireMethod("--method", method) : method;
  const out = rest.out ?? `runs/${environment.name}-${recipe.id}-${seed}`;
  const store = rest.store ?? defaultStore(out);

  const { train } = await import("../train/run.ts");
  const engine = await makeEngine(engineName);
  const suited = {
    ...(engine.learningRate === undefined ? {} : { learningRate: engine.learningRate }),
    ...settings,
  };
  const built = recipe.build(suited);
  const view = await createView(io);
  const speeds: number[] = [];
  const report = (event: RunEvent): void => {
    view.show(event);
    if (event.type === "iteration") speeds.push(event.tokensPerSecond);
  };

  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130);
    io.error("Saving; Ctrl-C again ends at once.");
    stop.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  try {
    const done = await train(
      {
        ...rest,
        environment,
        method: built,
        engine,
        seed,
        out,
        store,
        ...(budget !== undefined && { budgetSeconds: seconds("--budget", budget) }),
        config: { settings: { ...recipe.defaults, ...suited } },
      },
      report,
      stop.signal,
    );
    view.close();
    if (io.json) return;
    const tokensPerSecond = speeds.reduce((a, b) => a + b, 0) / Math.max(1, speeds.length);
    const { before, after } = done;
    const measured = [
      ...before.map((e) => ({ type: "evaluation" as const, when: "before" as const, iteration: 0, ...e })),
      ...after.map((e) => ({
        type: "evaluation" as const,
        when: "after" as const,
        iteration: done.iterations,
        ...e,
      })),
    ];
    await printReport({ ...done, tokensPerSecond, evaluations: measured }, io);
  } catch (e) {
    if (!stop.signal.aborted || e !== stop.signal.reason) throw e;
    io.code = 130;
  } finally {
    view.close();
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
    await engine.dispose();
  }
}

/** What a run in this folder was begun with, as far as it can be named again: --resume --out is enough then. */
function begunRun(out: string | undefined): StatedRun {
  const file = out === undefined ? undefined : join(out, "run.json");
  if (file === undefined || !existsSync(file)) return {};
  const begun = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  const engine = engineNames.find((name) => name === begun.engine) satisfies EngineName | undefined;
  const { settings } = (begun.config ?? {}) as Pick<StatedRun, "settings">;
  return {
    ...(typeof begun.env === "string" && { env: begun.env }),
    ...(typeof begun.method === "string" && { method: begun.method }),
    ...(engine !== undefined && { engine }),
    ...(typeof begun.seed === "number" && { seed: begun.seed }),
    ...(typeof begun.iterations === "number" && { iterations: begun.iterations }),
    ...(typeof begun.contextTokens === "number" && { contextTokens: begun.contextTokens }),
    ...(settings !== undefined && { settings }),
    warmStart: (begun.warmStart as StatedRun["warmStart"] | null) ?? false,
    ...(begun.evaluation !== undefined && {
      evaluation: begun.evaluation as NonNullable<StatedRun["evaluation"]>,
    }),
  };
}

/** Without settings that were not stated, so that they do not hide those that were begun with. */
function withoutAbsent({ settings, ...rest }: StatedRun): StatedRun {
  return { ...rest, ...(settings !== undefined && Object.keys(settings).length > 0 && { settings }) };
}
