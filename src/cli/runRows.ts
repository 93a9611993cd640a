/** What a run can be told: one table, from which come options, help and the check of config files. */
import { z } from "zod";
import { type TrainingExampleKind, trainingExampleKinds } from "../core/trainingExamples.ts";
import type { DecoderSize } from "../engine/local/config.ts";
import { type Device, devices } from "../engine/local/devices.ts";
import type { LoraOptions } from "../engine/local/index.ts";
import { type Precision, precisions } from "../engine/local/precision.ts";
import { type Reduction, reductions } from "../engine/tinker/datum.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import { highestRate } from "../method/settings.ts";
import { type EvaluationSettings, evaluationModes, type WarmStartSettings } from "../train/settings.ts";
import type { WatchOptions } from "../train/watchOptions.ts";
import { type EngineName, engineNames } from "./catalogue.ts";

/** A run as a config file or the command line states it. The command line wins. */
export interface RunConfig {
  /** What is trained in: an environment, its name, or a file that exports one. */
  readonly env: string | Environment;
  /** How it learns: a method or its id; `whetstone methods` lists them. Default: grpo. */
  readonly method: string | Recipe;
  /** What makes and trains the model: `local` in this process (default), `tabular`, `tinker` on a cluster, `chat` behind an API. */
  readonly engine: EngineName;
  /** The checkpoint to begin from: a folder, or a model's id on the Hugging Face Hub. Default: random weights. */
  readonly model: string;
  /** Shape of a model with random weights. */
  readonly size: DecoderSize;
  /** Train an adapter of this rank, or as stated, and leave the weights as they are. */
  readonly lora: number | LoraOptions;
  /** Write tools, calls and results into the text of the messages, for a model whose chat template has no place for them. */
  readonly toolsInText: boolean;
  /** Where the local engine computes. */
  readonly device: Device;
  /** Of the numbers on a GPU. */
  readonly precision: Precision;
  /** Threads within an operation. */
  readonly threads: number;
  /** MiB for the activations of a training step. */
  readonly memory: number;
  /** Of a server of the Tinker API. */
  readonly url: string;
  /** What it is to train, as it names it. */
  readonly baseModel: string;
  /** A folder with the tokenizer of that model. */
  readonly tokenizer: string;
  /** Name of the environment variable that holds the server's key. */
  readonly keyEnv: string;
  /** What the server makes of the losses of several tokens. */
  readonly reduction: Reduction;
  /** Sampling sessions that share the requests of each version of the weights. */
  readonly samplers: number;
  /** Dollars that a model behind an API may cost, over all processes of a run; `maxCalls` and `maxTokens` likewise. */
  readonly maxSpend: number;
  /** Dollars per million tokens read and written, as in "0.25,2". */
  readonly price: string;
  /** Most requests to it. */
  readonly maxCalls: number;
  /** Most tokens that it reads and writes. */
  readonly maxTokens: number;
  /** Folder of its replies. */
  readonly cache: string;
  /** Same seed, same run. Default: 1. */
  readonly seed: number;
  /** Rounds of playing and learning. */
  readonly iterations: number;
  /** Training ends once so many were played. */
  readonly episodes: number;
  /** Time for training, such as "10m"; warm start and evaluations are not counted. */
  readonly budget: string;
  /** Folder for weights and checkpoints. */
  readonly out: string;
  /** Database for curves and transcripts. */
  readonly store: string;
  /** Go on with the run in the folder `out`. */
  readonly resume: boolean;
  /** Episodes that are played at the same time. */
  readonly concurrency: number;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** Longest reply, in place of the environment's `limits.actionTokens`. */
  readonly replyTokens: number;
  /** Seconds between checkpoints. */
  readonly checkpointSeconds: number;
  /** Every so many iterations the policy's weights are kept for good, in the folder `kept` of the run. */
  readonly keepEvery: number;
  /** Imitate the environment's flawed player first. */
  readonly warmStart: boolean | Partial<WarmStartSettings>;
  /** How success is measured, before, during and after. */
  readonly evaluation: Partial<EvaluationSettings>;
  /** Iterations that rollouts may run ahead of learning. */
  readonly staleness: number;
  /** Largest importance weight of a token that was sampled ahead. */
  readonly importanceCap: number;
  /** Audits what the run is paid for: "environment" (its own rewards), a file whose default export is a judge, or a watch. */
  readonly watch: string | WatchOptions;
  /** Attempts that are audited in an iteration. */
  readonly audits: number;
  readonly onAlarm: "stop" | "warn";
  /** Learn from what people said in production, in place of play: the store of it. The environment only measures then. */
  readonly fromFeedback: string;
  /** Of that, what to learn from. Default: what suits the method. */
  readonly examples: TrainingExampleKind;
}

interface Row<T> {
  /** Absent: config files only. */
  readonly flag?: string;
  readonly help: string;
  readonly schema: z.ZodType<T>;
}

const isObject = <T>(what: string, ...keys: string[]) =>
  z.custom<T>((v) => typeof v === "object" && v !== null && keys.every((key) => key in v), what);
export const text = z.string("a text").min(1, "a text that is not empty");
const count = (low: number, high = Number.MAX_SAFE_INTEGER) => {
  const words =
    high === Number.MAX_SAFE_INTEGER
      ? `a whole number of ${low} or more`
      : `a whole number from ${low} to ${high}`;
  return z.number(words).int(words).min(low, words).max(high, words);
};
const atLeast = (low: number) =>
  z.number(`a number of ${low} or more`).min(low, `a number of ${low} or more`);
const above = z.number("a number above 0").positive("a number above 0");

/** Of a sequence: no model has room for more. */
const mostTokens = 2 ** 24;

/** An object of these values, each of which may be absent. */
function partial<T extends object>(values: { readonly [K in keyof T]: z.ZodType<T[K]> }) {
  const shape = Object.fromEntries(
    Object.entries<z.ZodType>(values).map(([name, value]) => [name, value.optional()]),
  );
  const schema = z.strictObject(shape, "an object of settings");
  return { schema: schema as unknown as z.ZodType<Partial<T>>, names: Object.keys(values) };
}

export const warmStart = partial<WarmStartSettings>({
  learningRate: above.max(highestRate, `a number above 0, ${highestRate} at most`),
  drop: above.max(1, "a factor above 0, 1 at most"),
  drops: count(0),
  weightDecay: atLeast(0),
  batch: count(1),
  updates: count(1),
  every: count(1),
  patience: count(1),
  tolerance: atLeast(0),
});
/** Evaluations, each setting with an option of its own; a missing or surplus row is a compile error. */
export const evaluationRows: {
  readonly [K in keyof EvaluationSettings]-?: Required<Row<EvaluationSettings[K]>>;
} = {
  tasks: {
    flag: "--eval-tasks <n>",
    help: "held-out tasks per split that are played before and after training; 0: none before (default: 200, or 100 with a pretrained --model)",
    schema: count(0),
  },
  mode: {
    flag: "--eval-mode <greedy|sampled|both>",
    help: "how evaluations choose actions: the most probable token, sampled at temperature 1, or both, one after the other (default: both, or greedy with a pretrained --model; a chat model is sampled)",
    schema: z.enum(evaluationModes),
  },
  every: {
    flag: "--eval-every <n>",
    help: "iterations between evaluations on the split validation, of which the best checkpoint becomes the result; 0: none (default: 10)",
    schema: count(0),
  },
  validationTasks: {
    flag: "--eval-validation-tasks <n>",
    help: "tasks of such an evaluation (default: 100, or 50 with a pretrained --model)",
    schema: count(1),
  },
};
export const evaluation = partial<EvaluationSettings>({
  tasks: evaluationRows.tasks.schema,
  mode: evaluationRows.mode.schema,
  every: evaluationRows.every.schema,
  validationTasks: evaluationRows.validationTasks.schema,
});

/** A missing or surplus row is a compile error. */
export const runRows: { readonly [K in keyof RunConfig]-?: Row<RunConfig[K]> } = {
  env: {
    flag: "--env <name>",
    help: "environment to train in (see whetstone envs)",
    schema: z.union([text, isObject<Environment>("the name of an environment, or an environment")]),
  },
  method: {
    flag: "--method <id>",
    help: "training method (see whetstone methods)",
    schema: z.union([text, isObject<Recipe>("the id of a method, or a method", "build", "id")]),
  },
  engine: {
    flag: "--engine <name>",
    help: "local (transformers), tabular (exact tables), tinker (a server of the Tinker API) or chat (any OpenAI-compatible API, for methods without weights)",
    schema: z.enum(engineNames),
  },
  model: {
    flag: "--model <folder|file.gguf|owner/name>",
    help: "initial checkpoint: a folder, a file, or a name on the Hugging Face Hub (default: random weights); with --engine chat: name of a model of the API",
    schema: text,
  },
  size: {
    help: "shape of a model with random weights",
    schema: z.strictObject(
      { width: count(1), layers: count(1), heads: count(1), kvHeads: count(1), feedForward: count(1) },
      "an object with width, layers, heads, kvHeads and feedForward",
    ),
  },
  lora: {
    flag: "--lora <rank>",
    help: "train a LoRA adapter of this rank instead of all weights",
    schema: z.union([
      count(1),
      isObject<LoraOptions>("a rank, or an object with rank, alpha, targets or from"),
    ]),
  },
  toolsInText: {
    flag: "--tools-in-text",
    help: "write tools, calls and results into the messages, for a pretrained model whose chat template has no place for them",
    schema: z.boolean("true or false"),
  },
  device: {
    flag: "--device <name>",
    help: "execution device: cpu, gpu or cuda (see whetstone doctor; default: WHETSTONE_DEVICE, or cpu)",
    schema: z.enum(devices),
  },
  precision: {
    flag: "--precision <kind>",
    help: "with --device gpu: f16 for products on tensor cores in training (default: f32)",
    schema: z.enum(precisions),
  },
  threads: { flag: "--threads <n>", help: "threads of the engine (default: one per core)", schema: count(1) },
  memory: {
    flag: "--memory <MiB>",
    help: "memory for the activations of a training step (default: an eighth of the machine's memory, at most 1024)",
    schema: count(1),
  },
  url: { flag: "--url <address>", help: "with --engine tinker or chat: where the server is", schema: text },
  baseModel: {
    flag: "--base-model <name>",
    help: "with --engine tinker: which of the server's models to train",
    schema: text,
  },
  tokenizer: {
    flag: "--tokenizer <folder>",
    help: "with --engine tinker: folder with that model's tokenizer.json and tokenizer_config.json",
    schema: text,
  },
  keyEnv: {
    flag: "--key-env <NAME>",
    help: "with --engine tinker or chat: environment variable with the server's key (default: TINKER_API_KEY, OPENAI_API_KEY)",
    schema: text,
  },
  reduction: {
    flag: "--reduction <kind>",
    help: "with --engine tinker: the server adds losses up, sum, or divides by lengths, sequence-mean, as SkyRL on JAX (default: as a trial at the start shows)",
    schema: z.enum(reductions),
  },
  samplers: {
    flag: "--samplers <n>",
    help: "with --engine tinker: sampling sessions for each version of the weights, of 64 requests at a time (default: 1)",
    schema: count(1),
  },
  maxSpend: {
    flag: "--max-spend <usd>",
    help: "with --engine chat and --price: stop before the whole run spends more than this; a higher limit with --resume continues it",
    schema: above,
  },
  price: {
    flag: "--price <in,out>",
    help: "with --engine chat: dollars per million tokens read and written, e.g. 0.25,2",
    schema: text,
  },
  maxCalls: {
    flag: "--max-calls <n>",
    help: "with --engine chat: stop before more requests of the whole run than this reach the provider",
    schema: count(1),
  },
  maxTokens: {
    flag: "--max-tokens <n>",
    help: "with --engine chat: stop before a request that could raise the tokens of the whole run, read and written, above this",
    schema: count(1),
  },
  cache: {
    flag: "--cache <folder>",
    help: "with --engine chat: folder that caches replies, so that none is paid for twice (default: runs/chat)",
    schema: text,
  },
  seed: {
    flag: "--seed <n>",
    help: "seed of every random stream",
    schema: z.number("a whole number").int("a whole number"),
  },
  iterations: {
    flag: "--iterations <n>",
    help: "number of iterations; each one plays episodes and updates the policy",
    schema: count(0),
  },
  episodes: {
    flag: "--episodes <n>",
    help: "end training after the iteration in which this many episodes have been played",
    schema: count(1),
  },
  budget: {
    flag: "--budget <time>",
    help: "time limit of training, such as 90s, 10m or 1h; the warm start and the evaluations before and after are not counted",
    schema: text,
  },
  out: { flag: "--out <folder>", help: "folder of the run", schema: text },
  store: {
    flag: "--store <file>",
    help: "SQLite file for curves and transcripts",
    schema: text,
  },
  resume: { flag: "--resume", help: "resume the run in --out", schema: z.boolean("true or false") },
  concurrency: {
    flag: "--concurrency <n>",
    help: "episodes played at the same time; results do not depend on it",
    schema: count(1),
  },
  contextTokens: {
    flag: "--context-tokens <n>",
    help: "maximum sequence length, in tokens (default: what the pretrained model and the memory allow, or 128 without one)",
    schema: count(8, mostTokens),
  },
  replyTokens: {
    flag: "--reply-tokens <n>",
    help: "maximum length of a reply, in tokens of the model (default: the environment's limits.actionTokens)",
    schema: count(1, mostTokens),
  },
  checkpointSeconds: {
    flag: "--checkpoint-seconds <n>",
    help: "seconds between checkpoints, or more where saving would take over 2 % of the time; 0: after every iteration",
    schema: atLeast(0),
  },
  keepEvery: {
    flag: "--keep-every <n>",
    help: "keep the policy's weights of every n-th iteration for good, such as for a league of a run's stages",
    schema: count(1),
  },
  watch: {
    flag: "--watch <environment|judge.ts>",
    help: "audit some attempts, by the environment's own rewards or by a judge, and end training when what is paid rises while audits fall, or stays wrong while answers become alike",
    schema: z.union([
      text,
      isObject<WatchOptions>("environment, the file of a judge, or an object with an audit", "audit"),
    ]),
  },
  audits: {
    flag: "--audits <n>",
    help: "with --watch: attempts that are audited in an iteration (default: 8)",
    schema: count(1),
  },
  onAlarm: {
    flag: "--on-alarm <stop|warn>",
    help: "with --watch: end training with the weights of the best audits, or go on with a warning (default: stop)",
    schema: z.enum(["stop", "warn"]),
  },
  fromFeedback: {
    flag: "--from-feedback <store>",
    help: "train on the feedback in this traffic store instead of playing episodes",
    schema: text,
  },
  examples: {
    flag: "--examples <kind>",
    help: "with --from-feedback: kind of training example: conversation, pair, demonstration or rating (default: the kind that the method declares)",
    schema: z.enum(trainingExampleKinds),
  },
  warmStart: {
    help: "imitate the environment's flawed player first",
    schema: z.union([z.boolean("true or false"), warmStart.schema]),
  },
  staleness: {
    flag: "--staleness <n>",
    help: "async rollouts: maximum number of iterations between the weights that sample and the weights that are updated (default: 0, synchronous)",
    schema: count(0),
  },
  importanceCap: {
    flag: "--importance-cap <n>",
    help: "with --staleness: maximum importance weight of a token; 0 leaves the correction to the method (default: 2)",
    schema: z.union([z.literal(0), atLeast(1)]),
  },
  evaluation: {
    help: "held-out tasks per split; how actions are chosen; iterations between validations; validation tasks",
    schema: evaluation.schema,
  },
};
