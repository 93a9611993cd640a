/** The resolved config of a run: plain data with every default filled in, stored whole in `run.json`. Runs are assembled and resumed from it. */
import { z } from "zod";
import { WhetstoneError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Method } from "../core/slots.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import {
  defaultEvaluation,
  defaultWarmStart,
  type EvaluationSettings,
  evaluationModes,
  pretrainedEvaluation,
  type WarmStartSettings,
} from "./settings.ts";
import { type WatchOptions, watchSchema, watchSettings } from "./watchOptions.ts";

const count = z.int().nonnegative();
const json = z.custom<Json>((value) => value !== undefined);

export const runConfigSchema = z.strictObject({
  format: z.literal(2),
  /** Names of the three parts that a run is made of. */
  env: z.string(),
  method: z.string(),
  engine: z.string(),
  seed: z.int(),
  iterations: count,
  /** Maximum sequence length, in tokens. */
  contextTokens: count,
  /** Null: no warm start. */
  warmStart: z
    .strictObject({
      learningRate: z.number(),
      drop: z.number(),
      drops: count,
      weightDecay: z.number(),
      batch: count,
      updates: count,
      every: count,
      patience: count,
      tolerance: z.number(),
    } satisfies Record<keyof WarmStartSettings, z.ZodType>)
    .nullable(),
  evaluation: z.strictObject({
    tasks: count,
    every: count,
    validationTasks: count,
    mode: z.enum(evaluationModes).default("both"),
  } satisfies Record<keyof EvaluationSettings, z.ZodType>),
  /** Maximum iterations between the weights that sample and those that are updated; 0: synchronous. */
  staleness: count,
  /** Maximum importance weight of a token in async rollouts; 0 leaves the correction to the method. */
  importanceCap: z.number(),
  /** Values of the method's own options. */
  options: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
  /** How the run is watched; null: it is not. The caller brings the evaluators. */
  watch: watchSchema.nullable().default(null),
  /** How the caller makes the three parts again, in a format of its own; null if the caller passes them as objects. */
  parts: json,
  /** Settings that may change when the run is resumed. */
  adjustable: z.strictObject({
    /** Episodes that run at once. Does not change results. */
    concurrency: count,
    /** Checkpoint at the first end of an iteration after this many seconds, or more where saving is slow; 0: at every end. */
    checkpointSeconds: z.number(),
    /** Every so many iterations the weights are kept for good. */
    keepEvery: z.exactOptional(count),
    /** Wall-clock limit of the training; a run cut by it is not reproducible in its length. */
    budgetSeconds: z.exactOptional(z.number()),
    /** Training ends after the iteration in which this many episodes have been played. */
    episodes: z.exactOptional(count),
    /** What a watch does on an alarm. */
    onAlarm: z.exactOptional(z.enum(["stop", "warn"])),
    /** The store's file, seen from the run's folder. */
    store: z.exactOptional(z.string()),
    parts: json,
  }),
});
/** The content of `run.json`: names of the parts, every setting, and the settings that may change on resuming. */
export type RunConfig = z.output<typeof runConfigSchema>;

/** A run's config, with the objects that its names stand for. */
export interface RunSettings
  extends Omit<
      RunConfig,
      "format" | "env" | "method" | "engine" | "options" | "parts" | "adjustable" | "watch"
    >,
    Omit<RunConfig["adjustable"], "store" | "parts" | "onAlarm"> {
  /** Name of the run in the store. */
  readonly name: string;
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  readonly watch?: WatchOptions | undefined;
  /** By split: the share of its tasks that are trained on as well. A split that is absent has none. */
  readonly trainedShares: Readonly<Record<string, number>>;
}

/** Settings of a run; all have defaults, except environment, method and engine. */
export interface ConfigOptions {
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  /** Default 1. */
  readonly seed?: number | undefined;
  /** Default 80. */
  readonly iterations?: number | undefined;
  readonly budgetSeconds?: number | undefined;
  /** Training ends after the iteration in which this many episodes have been played. Default: no such limit. */
  readonly episodes?: number | undefined;
  /** Maximum sequence length, in tokens. Default: what the engine's pretrained model and the memory allow, or 128 without one. */
  readonly contextTokens?: number | undefined;
  /** Episodes that run at once. Default 64. Does not change results. */
  readonly concurrency?: number | undefined;
  /** Default 15. */
  readonly checkpointSeconds?: number | undefined;
  /** Every so many iterations the policy's weights are kept for good, such as for a league of a run's stages. Default: never. */
  readonly keepEvery?: number | undefined;
  /** Default: true if the environment has a flawed player. */
  readonly warmStart?: boolean | Partial<WarmStartSettings> | undefined;
  /** Default: 200 tasks, sampled and greedy; with the engine's pretrained model 100 tasks, greedy. */
  readonly evaluation?: Partial<EvaluationSettings> | undefined;
  /** Maximum iterations between the weights that sample and those that are updated. Default 0: synchronous. */
  readonly staleness?: number | undefined;
  /** With staleness: largest importance weight of a token; 0 leaves the correction to the method. Default 2. */
  readonly importanceCap?: number | undefined;
  /** Watches what the run is paid for. Default: it is not watched. */
  readonly watch?: WatchOptions | undefined;
  /** How the parts were made, for `run.json`. A run with other parts cannot resume in its folder. */
  readonly parts?: Json | undefined;
}

/** Longest sequence where none is stated: what the engine's model and memory allow, or 128 tokens. */
export const usualContext = async (engine: Engine): Promise<number> =>
  (await engine.contextTokens?.()) ?? 128;

/** Fills in every default. @throws WhetstoneError `option.range` for a warm start in an environment without a flawed player. */
export async function resolveConfig(options: ConfigOptions): Promise<RunConfig> {
  const { environment, method, engine, seed = 1, iterations = 80 } = options;
  const { concurrency = 64, checkpointSeconds = 15, budgetSeconds, episodes, keepEvery } = options;
  const contextTokens = options.contextTokens ?? (await usualContext(engine));
  const { staleness = 0, importanceCap = 2, parts = null } = options;
  return {
    format: 2,
    env: environment.name,
    method: method.id,
    engine: engine.name,
    seed,
    iterations,
    contextTokens,
    warmStart: warmStartOf(options),
    // an engine that knows how long sequences may be has a pretrained model
    evaluation: {
      ...(engine.contextTokens ? pretrainedEvaluation : defaultEvaluation),
      ...options.evaluation,
    },
    staleness,
    importanceCap,
    watch: options.watch ? watchSettings(options.watch) : null,
    options: { ...method.options },
    parts,
    adjustable: {
      concurrency,
      checkpointSeconds,
      ...(budgetSeconds === undefined ? {} : { budgetSeconds }),
      ...(episodes === undefined ? {} : { episodes }),
      ...(keepEvery === undefined ? {} : { keepEvery }),
      ...(options.watch?.onAlarm === undefined ? {} : { onAlarm: options.watch.onAlarm }),
      parts: null,
    },
  };
}

function warmStartOf({ warmStart: wanted, environment, engine }: ConfigOptions): WarmStartSettings | null {
  // a model of somebody else's, which speaks already
  if (wanted === undefined && !engine.can.has("train")) return null;
  if (wanted === false || !environment.flawed) {
    if (!wanted) return null;
    throw new WhetstoneError("option.range", {
      where: "warmStart",
      got: `a request for a warm start in "${environment.name}"`,
      expected: "an environment with a scripted player to imitate",
      fix: "Give the environment a `flawed` player, or leave the warm start out.",
    });
  }
  return { ...defaultWarmStart, ...(typeof wanted === "object" ? wanted : {}) };
}
