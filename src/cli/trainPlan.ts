/** What `whetstone train` is about to do: a run as stated, or the one in a folder with what is stated otherwise. */
import { join } from "node:path";
import { WhetstoneError } from "../core/errors.ts";
import type { Method } from "../core/slots.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import { loadMethod } from "../methods/load.ts";
import { type RunConfig, resolveConfig } from "../train/config.ts";
import { storeAt } from "../train/folder.ts";
import type { RunParts } from "../train/run.ts";
import { type EngineName, type EngineOptions, requireEnvironment } from "./catalogue.ts";
import { buildWith, choiceFor, requireKnown } from "./choices.ts";
import { fromStoredFeedback } from "./fromFeedback.ts";
import type { StatedRun } from "./options.ts";
import { defaultStore } from "./report.ts";
import {
  environmentName,
  modulesOf,
  overlaid,
  type Parts,
  type RunRecord,
  readRunRecord,
  recordedConfig,
  recordedEnvironment,
  recordOf,
  stated,
  statedFeedback,
} from "./runRecord.ts";
import { withReplyTokens } from "./sampling.ts";
import { statedWatch } from "./watch.ts";

/** What is known before there is an engine. */
export interface TrainPlan {
  readonly out: string;
  readonly store: string;
  readonly engine: EngineName;
  readonly engineOptions: EngineOptions;
  /** The run's config, and what its names stand for. */
  made(engine: Engine): Promise<{ readonly config: RunConfig; readonly parts: RunParts }>;
}

/** @param file the config file, where there is one. */
export async function trainPlan(asked: StatedRun, file: string | undefined): Promise<TrainPlan> {
  const environment = await statedEnvironment(asked);
  const recipe = (await statedRecipe(asked)) ?? (await loadMethod("grpo", "--method"));
  const { seed = 1, fromFeedback: feedback } = asked;
  const out = asked.out ?? `runs/${feedback ? "feedback" : environment?.name}-${recipe.id}-${seed}`;
  const begun = asked.resume ? await readRunRecord(out) : undefined;
  return begun
    ? await resumed(begun, asked, file)
    : fresh({ asked: read(asked, recipe), file, out, recipe, environment });
}

/** With the values of the method's own options, in place of texts. @throws WhetstoneError `name.unknown`. */
function read(asked: StatedRun, recipe: Recipe): StatedRun {
  const { options = {} } = asked;
  requireKnown("--set", Object.keys(options), [recipe]);
  return { ...asked, options: choiceFor(recipe, options) };
}

/** What is measured in, where it is stated; undefined for a run that learns from feedback and measures on its prompts. */
async function statedEnvironment({
  env,
  resume,
  out,
  fromFeedback: feedback,
}: StatedRun): Promise<Environment | undefined> {
  if (typeof env === "object") return env;
  if (env === undefined && (feedback !== undefined || (resume && out !== undefined))) return undefined;
  return await requireEnvironment("--env", env ?? "facts");
}

const statedRecipe = async ({ method }: StatedRun): Promise<Recipe | undefined> =>
  typeof method === "string" ? await loadMethod(method, "--method") : method;

interface Fresh {
  readonly asked: StatedRun;
  readonly file: string | undefined;
  readonly out: string;
  readonly recipe: Recipe;
  readonly environment: Environment | undefined;
}

function fresh({ asked, file, out, recipe, environment: measured }: Fresh): TrainPlan {
  const { engine: name = "local", model, fromFeedback: feedback } = asked;
  const engineOptions = {
    ...stated(asked, "model", "size", "lora", "toolsInText", "device", "precision", "threads", "memory"),
    ...stated(asked, "url", "baseModel", "tokenizer", "keyEnv", "reduction", "samplers"),
    ...stated(asked, "maxSpend", "price", "maxCalls", "maxTokens", "cache"),
    ...(name === "chat" && stated(asked, "replyTokens")),
  };
  const store = asked.store ?? defaultStore(out);
  return {
    ...{ out, store, engine: name },
    engineOptions: withLedger(name, engineOptions, out),
    async made(engine) {
      const settings = { ...recipe.defaults, ...stated(engine, "learningRate"), ...asked.settings };
      const source = statedFeedback(undefined, asked, measured?.name);
      const parts: Parts = { settings, ...(source && { feedback: source }) };
      const method = buildWith(recipe, settings, asked.options ?? {});
      const trained = await trainedParts(method, source, feedback, measured, asked.replyTokens);
      // a model of somebody else's speaks already
      const warmStart = model !== undefined || name === "tinker" ? false : undefined;
      const more = stated(asked, "contextTokens", "warmStart");
      const watch = await statedWatch(asked);
      const config = await resolveConfig({ ...trained, engine, warmStart, watch, ...more });
      const record = recordOf(out, config, parts, { modules: modulesOf(out, file, asked) });
      return {
        config: overlaid(record, asked, { file, measured: measured?.name }).config,
        parts: { ...trained, engine, watch, out, store, resume: asked.resume },
      };
    },
  };
}

async function resumed(begun: RunRecord, typed: StatedRun, file: string | undefined): Promise<TrainPlan> {
  const { out } = begun;
  const ofFile = await recordedConfig(begun);
  const recipe = (await statedRecipe(typed)) ?? (await recordedRecipe(begun, ofFile));
  const asked = read(typed, recipe);
  const environment =
    asked.env === undefined && environmentName(begun) !== ""
      ? await recordedEnvironment(begun, ofFile)
      : await statedEnvironment({ ...asked, out, resume: true });
  const record = overlaid(begun, asked, { file, measured: environment?.name });
  const { engine: name, config, parts } = record;
  const { settings } = parts;
  if (name === undefined || settings === undefined) throw ofProgram(out);
  const remembered = begun.config.adjustable.store;
  const store = asked.store ?? (remembered === undefined ? defaultStore(out) : storeAt(out, remembered));
  return {
    ...{ out, store, engine: name },
    engineOptions: withLedger(name, record.engineOptions, out),
    async made(engine) {
      const feedback = asked.fromFeedback ?? parts.feedback?.store;
      const method = buildWith(recipe, settings, config.options);
      const trained = await trainedParts(method, parts.feedback, feedback, environment, parts.replyTokens);
      const wanted = stated(asked, "warmStart");
      const { contextTokens } = config;
      const recorded = { out, watch: record.adjustable.modules?.watch };
      const watch = await statedWatch({ ...stated(ofFile, "watch"), ...asked }, recorded);
      const resolved = await resolveConfig({ ...trained, engine, contextTokens, watch, ...wanted });
      const { warmStart } = "warmStart" in wanted ? resolved : config;
      const watched = { ...config.watch, ...resolved.watch };
      const names = { env: trained.environment.name, method: recipe.id, engine: engine.name };
      return {
        config: { ...config, ...names, warmStart, watch: watch ? watched : config.watch },
        parts: { ...trained, engine, watch, out, store, resume: true },
      };
    },
  };
}

/** The method, and what it is trained in. @param feedback the store of what people said, with its password. */
async function trainedParts(
  method: Method,
  source: Parts["feedback"],
  feedback: string | undefined,
  measured: Environment | undefined,
  replyTokens: number | undefined,
): Promise<Pick<RunParts, "method" | "environment">> {
  const made =
    source && feedback !== undefined
      ? await fromStoredFeedback(method, { ...source, store: feedback }, measured)
      : { method, environment: measured ?? (await requireEnvironment("--env", "facts")) };
  return { ...made, environment: withReplyTokens(made.environment, replyTokens) };
}

/** The method that a run was begun with: of its config file, where that has one of its own, else of the catalogue. */
async function recordedRecipe({ config: { method: id } }: RunRecord, { method }: StatedRun): Promise<Recipe> {
  return typeof method === "object" && method.id === id ? method : await loadMethod(id, "--method");
}

/** All processes of a run spend from one budget. */
const withLedger = (engine: EngineName, options: EngineOptions, out: string): EngineOptions =>
  engine === "chat" ? { ...options, ledger: join(out, "spent.jsonl") } : options;

const ofProgram = (out: string): WhetstoneError =>
  new WhetstoneError("run.different", {
    where: "--resume",
    got: `${out}, a run that was started from code`,
    expected: "a run that whetstone train started",
    fix: "Resume it from the same code: train({ …, resume: true }).",
  });
