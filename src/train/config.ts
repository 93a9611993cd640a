/** What a run is, with every default filled in: plain data that stands whole in its `run.json`. A run is made and resumed by it. */
import { z } from "zod";
import { WhetstoneError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Method } from "../core/slots.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import { defaultWarmStart, type EvaluationSettings, type WarmStartSettings } from "./settings.ts";

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
  /** Longest sequence. */
  contextTokens: count,
  /** Null: training begins with the weights as they are. */
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
  } satisfies Record<keyof EvaluationSettings, z.ZodType>),
  /** Iterations that rollouts may run ahead of learning; 0: they take turns. */
  staleness: count,
  /** Largest importance weight of a token that was sampled ahead; 0 leaves the correction to the method's own ratios. */
  importanceCap: z.number(),
  /** Values of the method's own options. */
  options: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
  /** What a program needs to make the three parts again, in its own form; null where a caller hands them over. */
  parts: json,
  /** What may be stated otherwise when the run goes on. */
  adjustable: z.strictObject({
    /** Episodes that run at once. Does not change results. */
    concurrency: count,
    /** Checkpoint at the first end of an iteration after this many seconds, or more where saving is slow; 0: at every end. */
    checkpointSeconds: z.number(),
    /** Wall-clock limit of the training; a run cut by it is not reproducible in its length. */
    budgetSeconds: z.exactOptional(z.number()),
    /** Training ends with the iteration in which so many episodes have been played. */
    episodes: z.exactOptional(count),
    /** The store's file, seen from the run's folder. */
    store: z.exactOptional(z.string()),
    parts: json,
  }),
});
/** A run as `run.json` keeps it: names of its parts, every number that it goes by, and what may be stated otherwise on the way. */
export type RunConfig = z.output<typeof runConfigSchema>;

/** A run's config, and what its names stand for. */
export interface RunSettings
  extends Omit<RunConfig, "format" | "env" | "method" | "engine" | "options" | "parts" | "adjustable">,
    Omit<RunConfig["adjustable"], "store" | "parts"> {
  /** Under which the store knows it. */
  readonly name: string;
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  /** By split: the share of its tasks that are trained on as well. A split that is absent has none. */
  readonly trainedShares: Readonly<Record<string, number>>;
}

/** What of a run can be stated; all but its parts has defaults. */
export interface ConfigOptions {
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  /** Default 1. */
  readonly seed?: number | undefined;
  /** Default 80. */
  readonly iterations?: number | undefined;
  readonly budgetSeconds?: number | undefined;
  /** Training ends with the iteration in which so many episodes have been played. Default: no such limit. */
  readonly episodes?: number | undefined;
  /** Longest sequence, in tokens. Default: as the engine's pretrained model and the memory allow, else 128. */
  readonly contextTokens?: number | undefined;
  /** Episodes that run at once. Default 64. Does not change results. */
  readonly concurrency?: number | undefined;
  /** Default 15. */
  readonly checkpointSeconds?: number | undefined;
  /** Default: when the environment has a flawed player. */
  readonly warmStart?: boolean | Partial<WarmStartSettings> | undefined;
  readonly evaluation?: Partial<EvaluationSettings> | undefined;
  /** Iterations that rollouts may run ahead of learning. Default 0: they take turns. */
  readonly staleness?: number | undefined;
  /** With staleness: largest importance weight of a token; 0 leaves the correction to the method. Default 2. */
  readonly importanceCap?: number | undefined;
  /** What the run's `run.json` says of how its parts were made. A run with other parts does not go on in its folder. */
  readonly parts?: Json | undefined;
}

/** Fills in every default. @throws WhetstoneError `option.range` for a warm start where there is nobody to imitate. */
export async function resolveConfig(options: ConfigOptions): Promise<RunConfig> {
  const { environment, method, engine, seed = 1, iterations = 80 } = options;
  const { concurrency = 64, checkpointSeconds = 15, budgetSeconds, episodes } = options;
  const contextTokens = options.contextTokens ?? (await engine.contextTokens?.()) ?? 128;
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
    evaluation: { tasks: 200, every: 10, validationTasks: 100, ...options.evaluation },
    staleness,
    importanceCap,
    options: { ...method.options },
    parts,
    adjustable: {
      concurrency,
      checkpointSeconds,
      ...(budgetSeconds === undefined ? {} : { budgetSeconds }),
      ...(episodes === undefined ? {} : { episodes }),
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
