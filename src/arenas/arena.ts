/** An arena: a frozen task for a neural policy, in which every method that fits gets the same world, start and budget. */
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { localEngine } from "../engine/local/index.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import { trainInMemory } from "../train/trainInMemory.ts";

/** Everything that a run in an arena is determined by, besides the method, its step size and the seed. */
export interface Arena {
  readonly name: string;
  readonly summary: string;
  /** Folder of the arena; its `start` holds the weights that every model begins from, critics and teachers included. */
  readonly folder: string;
  /** Further files that its world is made of, as patterns relative to src/. They are part of its digest. */
  readonly world: readonly string[];
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
  /** Reported seeds are 1 to this. */
  readonly seeds: number;
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
  /** Wall-clock time of training and measuring. */
  readonly seconds: number;
  /** The code that made it. */
  readonly commit: string;
}

const src = join(import.meta.dirname, "..");

/** Files that an arena is made of: its definition, its start and its world. Paths under src/, sorted. */
export function arenaSources({ folder, world }: Arena): readonly string[] {
  const own = folder.slice(src.length + 1).replaceAll("\\", "/");
  return globSync([`${own}/*.ts`, `${own}/start/*`, ...world], { cwd: src })
    .map((name) => name.replaceAll("\\", "/"))
    .sort();
}

/** Changes with any byte of what the arena is made of: results under another digest are those of another arena. */
export function arenaDigest(arena: Arena): string {
  const hash = createHash("sha256");
  for (const name of arenaSources(arena)) hash.update(`${name}\n`).update(readFileSync(join(src, name)));
  return hash.digest("hex").slice(0, 16);
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
  const engine = localEngine({ from: join(arena.folder, "start"), threads: 1 });
  const began = performance.now();
  try {
    const done = await trainInMemory({
      environment: arena.environment(),
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
      seconds: (performance.now() - began) / 1000,
      commit,
    };
  } finally {
    await engine.dispose();
  }
}
