/** An arena: a frozen task for a neural policy, in which every method that fits gets the same world, start and budget. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { randomStream } from "../core/random.ts";
import type { Message, Task } from "../core/types.ts";
import type { DecoderSize } from "../engine/local/config.ts";
import { localEngine } from "../engine/local/index.ts";
import type { Environment, Player } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import { trainInMemory } from "../train/trainInMemory.ts";

/** Everything that a run in an arena is determined by, besides the method, its step size and the seed. */
export interface Arena {
  readonly name: string;
  readonly summary: string;
  /** Folder of the arena; its `start` holds the weights that every model begins from, critics and teachers included. */
  readonly folder: string;
  /** Splits: `train`, `validation` (settings are chosen by it) and `test` (reported; its names never start a training task). */
  environment(): Environment;
  readonly budget: {
    readonly iterations: number;
    /** Tasks of an iteration, and attempts at each. */
    readonly tasks: number;
    readonly groupSize: number;
    /** Longest sequence, in tokens. */
    readonly contextTokens: number;
  };
  /** Step sizes to choose from, ascending. */
  readonly rates: readonly number[];
  readonly tuningSeeds: number;
  /** Number of reported seeds. */
  readonly seeds: number;
  /** How the start was made, by `node scripts/arena-start.ts`: a decoder of that size imitates a flawed player. */
  readonly warmStart: {
    readonly size: Required<DecoderSize>;
    readonly updates: number;
    /** In place of the arena's own, for demonstrations of other tasks. */
    environment?(): Environment;
  };
}

/**
 * First reported seeds that a command may ask for lie this far apart: 1, 1001, 2001, … Each draws other tuning seeds as well, so
 * that the whole experiment is repeated.
 */
export const seedsApart = 1000;

/** Feedback of other kinds than rewards, which the opponent does not get. */
export interface Asked {
  /** Pairs of attempts that the environment compared. */
  readonly comparisons: number;
  readonly critiques: number;
  /** Actions of the expert that were looked at. */
  readonly demonstrations: number;
}

/** One run. */
export interface ArenaRun {
  /** Success on held-out tasks after training, actions sampled. */
  readonly validation: number;
  readonly test: number;
  /** Success in training, by iteration, as the method counts it. */
  readonly curve: readonly number[];
  readonly episodes: number;
  readonly tokens: number;
  /** What training asked of the environment beyond rewards. Runs of before 2026-11-24 do not say it. */
  readonly asked?: Asked;
  /** Wall-clock time of training and measuring. */
  readonly seconds: number;
  /** The code that made it. */
  readonly commit: string;
}

/** Training questions of which the digest holds whole episodes; all tasks are in it by their texts. */
const trainingEpisodes = 100;

/**
 * Changes with everything that a run can meet: budget, grid and start, every task, and what the world answers and pays to three
 * scripted players. Results under another digest are those of another arena. The wording of the code is not part of it, and of
 * the code of methods and engine every run says the commit.
 */
export async function arenaDigest(arena: Arena): Promise<string> {
  const hash = createHash("sha256");
  const { budget, rates, tuningSeeds, seeds } = arena;
  const environment = arena.environment();
  const { limits, splits } = environment;
  const put = (part: unknown): void => void hash.update(`${JSON.stringify(part)}\n`);
  put({ budget, rates, tuningSeeds, seeds, limits, splits, words: environment.vocabulary?.() });
  const start = join(arena.folder, "start");
  for (const name of readdirSync(start).sort())
    hash.update(`${name}\n`).update(readFileSync(join(start, name)));
  for (const split of splits) {
    const tasks = environment.tasks(split);
    for (const task of tasks) put([task.id, task.prompt, task.reference, task.metadata, task.seed]);
    const played = split === "train" ? tasks.slice(0, trainingEpisodes) : tasks;
    for (const [i, task] of played.entries())
      for (const player of playersOf(environment, tasks[(i + 1) % tasks.length]!))
        put(await transcript(environment, task, player));
  }
  return hash.digest("hex").slice(0, 16);
}

/** The expert, the flawed player, and one that answers another question, and so meets what is no success. */
const playersOf = ({ expert, flawed }: Environment, other: Task): readonly Player[] => [
  ...(expert ? [expert, ((_, ...met) => expert(other, ...met)) satisfies Player] : []),
  ...(flawed ? [flawed] : []),
];

async function transcript(environment: Environment, task: Task, player: Player): Promise<readonly unknown[]> {
  const episode = await environment.start(task, randomStream(task.id));
  const random = randomStream(task.id).split("player");
  const conversation: Message[] = [...task.prompt];
  const happened: unknown[] = [];
  for (let turn = 0; turn < environment.limits.turns; turn++) {
    const { observation } = await episode.observe();
    conversation.push(...observation.messages);
    const content = player(task, conversation, random);
    const { rewards, text, end } = await episode.act({ content, stop: "eos" });
    conversation.push({ role: "assistant", content });
    happened.push([observation.messages, content, rewards, text, end]);
    if (end) break;
  }
  return happened;
}

/** What a run is made of besides the arena. Without a recipe the start is measured as it is. */
export interface ArenaRunOptions {
  readonly recipe: Recipe | undefined;
  readonly rate: number;
  readonly seed: number;
  readonly commit: string;
  /** In place of the arena's budget, for tests. */
  readonly iterations?: number | undefined;
  readonly stop?: AbortSignal | undefined;
}

/** Trains from the arena's start on one core and measures the result. */
export async function runInArena(arena: Arena, baseline: Recipe, of: ArenaRunOptions): Promise<ArenaRun> {
  const { recipe, rate, seed, commit, stop } = of;
  const { tasks, groupSize, contextTokens } = arena.budget;
  const { environment, asked } = observed(arena.environment());
  const engine = localEngine({ from: join(arena.folder, "start"), threads: 1 });
  const began = performance.now();
  try {
    const done = await trainInMemory({
      environment,
      method: (recipe ?? baseline).build({ learningRate: rate, tasks, groupSize }),
      engine,
      seed,
      iterations: recipe ? (of.iterations ?? arena.budget.iterations) : 0,
      contextTokens,
      ...(stop && { stop }),
    });
    const validation = await done.evaluate("validation");
    const test = await done.evaluate("test");
    return {
      validation: validation.success.mean,
      test: test.success.mean,
      curve: done.curve.map(({ success }) => success ?? Number.NaN),
      episodes: done.counters.episodes ?? 0,
      tokens: done.counters["tokens.sampled"] ?? 0,
      asked: asked(),
      seconds: (performance.now() - began) / 1000,
      commit,
    };
  } finally {
    await engine.dispose();
  }
}

/** The same environment, which counts what it is asked for beyond rewards. */
function observed(environment: Environment): { readonly environment: Environment; asked(): Asked } {
  const counts = { comparisons: 0, critiques: 0, demonstrations: 0 };
  const counting = <Args extends readonly unknown[], Result>(
    what: keyof Asked,
    method: ((...args: Args) => Result) | undefined,
  ): ((...args: Args) => Result) | undefined =>
    method &&
    ((...args) => {
      counts[what]++;
      return method(...args);
    });
  const prefer = counting("comparisons", environment.prefer?.bind(environment));
  const critique = counting("critiques", environment.critique?.bind(environment));
  const expert = counting("demonstrations", environment.expert);
  return {
    environment: {
      ...environment,
      ...(prefer && { prefer }),
      ...(critique && { critique }),
      ...(expert && { expert }),
    },
    asked: () => ({ ...counts }),
  };
}
