/** `whetstone train`: a run. */
import { join } from "node:path";
import type { Command } from "commander";
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import type { FetchProgress } from "../engine/local/hub.ts";
import type { Recipe } from "../method/method.ts";
import type { RunEvent } from "../train/events.ts";
import { makeEngine, requireEnvironment, requireMethod } from "./catalogue.ts";
import { loadConfig } from "./config.ts";
import { seconds } from "./durations.ts";
import { fromStoredFeedback, storeName } from "./fromFeedback.ts";
import { onSignal } from "./interrupted.ts";
import { limitsOf } from "./limits.ts";
import { createView } from "./live.ts";
import { liveDashboard } from "./liveDashboard.ts";
import { addRunOptions, type StatedRun, statedRun } from "./options.ts";
import { addCommand, folded, type Io } from "./output.ts";
import { defaultStore, printReport } from "./report.ts";
import {
  modulesOf,
  readRunRecord,
  recordedConfig,
  recordedEnvironment,
  settledModules,
} from "./runRecord.ts";
import { statedServer } from "./tinker.ts";

export function addTrain(program: Command, io: Io): void {
  const command = addCommand(program, "train", "Train an agent: a run.", [
    "whetstone train --env facts --method grpo",
    "whetstone train config.ts --budget 10m",
    "whetstone train --env facts --method rloo --seed 2 --out runs/rloo-2 --json",
    "whetstone train --out runs/rloo-2 --resume",
    "whetstone train --env facts --live",
    "whetstone train --env facts --model Qwen/Qwen2.5-0.5B-Instruct --lora 16",
    "whetstone train --env facts --model SmolLM2-135M-Instruct.Q4_1.gguf --lora 16",
    "whetstone train --engine tinker --url http://127.0.0.1:8000 --base-model tiny --tokenizer models/tiny --lora 16",
    "whetstone train --engine chat --url https://api.openai.com/v1 --model gpt-5-mini --method gepa --max-spend 2 --price 0.25,2",
    "whetstone train --from-feedback runs/whetstone.sqlite --method dpo --model Qwen/Qwen2.5-0.5B-Instruct --lora 16",
  ]).argument("[config.ts]", "a module whose default export states the run; options win over it");
  addRunOptions(command)
    .option("--live", "show the run in a browser while it goes; prints the address")
    .action(async (file: string | undefined, { live, ...options }: Record<string, unknown>) => {
      const config = file === undefined ? {} : await loadConfig(file);
      const line = statedRun(options);
      const stated = { ...config, ...line, settings: { ...config.settings, ...line.settings } };
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
  const begun = asked.resume && asked.out !== undefined ? readRunRecord(asked.out) : undefined;
  const from = begun && asked.out !== undefined ? { begun, out: asked.out } : undefined;
  const config = from ? await recordedConfig(from.out, from.begun) : {};
  const stated: StatedRun = from
    ? {
        ...config,
        ...from.begun.stated,
        ...(typeof config.method === "object" && sameMethod(config.method, from.begun.stated.method)),
        ...withoutAbsent(asked),
      }
    : asked;
  const {
    env,
    method = "grpo",
    engine: engineName = "local",
    model,
    size,
    lora,
    device,
    threads,
    memory,
    url,
    baseModel,
    tokenizer,
    keyEnv,
    reduction,
    samplers,
    maxSpend,
    price,
    maxCalls,
    maxTokens,
    cache,
    seed = 1,
    budget,
    settings,
    fromFeedback: taught,
    examples,
    ...rest
  } = stated;
  const environment =
    from && asked.env === undefined && from.begun.env !== ""
      ? await recordedEnvironment(from.out, from.begun, config)
      : typeof env === "object"
        ? env
        : env !== undefined || taught === undefined
          ? await requireEnvironment("--env", env ?? "facts")
          : undefined;
  const recipe = typeof method === "string" ? requireMethod("--method", method) : method;
  const out = rest.out ?? `runs/${taught ? "feedback" : environment?.name}-${recipe.id}-${seed}`;
  const store = rest.store ?? defaultStore(out);
  const given = modulesOf(out, file, asked.env);
  const modules = from ? settledModules(out, from.begun, given) : given;
  const limits = limitsOf(out, stated);

  const { train } = await import("../train/run.ts");
  const view = await createView(io);
  const stop = new AbortController();
  const server = { url, baseModel, tokenizer, keyEnv, reduction, samplers };
  const engine = await makeEngine(
    engineName,
    {
      ...{
        model,
        size,
        lora,
        device,
        threads,
        memory,
        ...server,
        maxSpend,
        price,
        maxCalls,
        maxTokens,
        cache,
      },
      ...(engineName === "chat" && { ledger: join(out, "spent.jsonl") }),
    },
    {
      progress: downloading(io),
      say: (line) => view.above(() => io.say(...folded(io, line))),
      stop: stop.signal,
    },
  );
  const suited = {
    ...(engine.learningRate === undefined ? {} : { learningRate: engine.learningRate }),
    ...settings,
  };
  const built = recipe.build(suited);
  const feedback = taught !== undefined && {
    store: storeName(taught),
    until: from?.begun.feedback?.until ?? Date.now(),
    ...(examples && { examples }),
    measured: environment?.name ?? "",
  };
  const trained = feedback
    ? await fromStoredFeedback(built, { ...feedback, store: taught }, environment)
    : { method: built, environment: environment ?? (await requireEnvironment("--env", "facts")) };
  const speeds: number[] = [];
  let page: { close(): void } | undefined;
  let unheard = (): void => {};
  const report = (event: RunEvent): void => {
    // before the run has begun there is nothing to save: until then a signal ends the process
    if (event.type === "start") {
      unheard = onSignal(() => {
        view.above(() => io.error("Saving; Ctrl-C again ends at once."));
        stop.abort();
      });
      if (live) page = liveDashboard(store, io);
    }
    view.show(event);
    // 0 where all was sampled before the run went on
    if (event.type === "iteration" && event.tokensPerSecond > 0) speeds.push(event.tokensPerSecond);
  };

  try {
    const done = await train(
      {
        // a model of somebody else's speaks already
        ...((model !== undefined || engineName === "tinker") && { warmStart: false }),
        ...rest,
        ...trained,
        engine,
        seed,
        out,
        store,
        ...(budget !== undefined && { budgetSeconds: seconds("--budget", budget) }),
        config: {
          settings: { ...recipe.defaults, ...suited },
          ...(model !== undefined && { model }),
          // where a model of somebody else's is may be stated otherwise when the run goes on
          ...statedServer(engineName === "chat" ? (from?.begun.server ?? {}) : server),
          ...(size && { size: { ...size } }),
          ...(lora !== undefined && { lora: typeof lora === "number" ? lora : { ...lora } }),
          ...(Object.keys(modules).length > 0 && { modules: { ...modules } }),
          ...(feedback && { feedback }),
        },
        ...(Object.keys(limits).length > 0 && { limits }),
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

/** @param config the file that names the folder, where it was not named on the command line. */
const runExists = (out: string, config: string | undefined): WhetstoneError =>
  new WhetstoneError("run.exists", {
    where: config === undefined ? "--out" : `${config}, out`,
    got: `${out}, where a run is already`,
    expected: "a new folder",
    fix: `Go on with it: whetstone train --out ${out} --resume; or name another folder${config === undefined ? "" : " with --out or there"}.`,
  });

/** A line every few seconds while a model comes from the Hub. */
function downloading(io: Io): (at: FetchProgress) => void {
  let said = Date.now();
  return ({ file, bytes, ofBytes }) => {
    if (Date.now() - said < 2000 && bytes < ofBytes) return;
    said = Date.now();
    const megabytes = (n: number): string => (n / 1e6).toFixed(0);
    io.error(`Fetching ${file}: ${megabytes(bytes)} of ${megabytes(ofBytes)} MB`);
  };
}

const sameMethod = (method: Recipe, id: StatedRun["method"]): Pick<StatedRun, "method"> =>
  method.id === id ? { method } : {};

/** Without settings that were not stated, so that they do not hide those that were begun with. */
function withoutAbsent({ settings, ...rest }: StatedRun): StatedRun {
  return { ...rest, ...(settings !== undefined && Object.keys(settings).length > 0 && { settings }) };
}
