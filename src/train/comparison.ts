/** Makes the runs of a comparison: all methods from the same starting weights, with equal budgets. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { mean } from "../common/statistics/statistics.ts";
import type { Method, OptionValue } from "../core/slots.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import { openRunStore } from "../store/runStore.ts";
import type { ComparedRun, TunedMethod } from "./compare.ts";
import type { RunEvent } from "./events.ts";
import { remembered, tuneArms, tuningSeedsFor, type Unit } from "./experiment.ts";
import { type RunOptions, train } from "./run.ts";

/** Values of settings and options, by name. */
export type ComparedChoice = Readonly<Record<string, OptionValue>>;

/** A method in a comparison. */
export interface Contender {
  readonly id: string;
  readonly weightFree: boolean;
  /** Its tuning grid; empty if it is not tuned. */
  readonly grid: readonly ComparedChoice[];
  /** The method with one choice of the grid, on top of the common settings. `name` identifies the choice. */
  with(choice: ComparedChoice): {
    readonly name: string;
    /** Episodes of an iteration, as planned: at most `tasks` of them different. */
    readonly tasks: number;
    readonly groupSize: number;
    /** @param learningRate the engine's default, if it has one; a choice overrides it. */
    build(learningRate: number | undefined): Method;
  };
}

/** Everything that the runs of a comparison share. */
export interface ComparisonPlan {
  readonly environment: Environment;
  /** Creates an engine for one run. */
  readonly engine: () => Promise<Engine>;
  readonly contenders: readonly Contender[];
  /** Plays while the policy that all begin from imitates a scripted player. */
  readonly imitator: Method;
  /** Folder of the comparison. */
  readonly out: string;
  readonly seeds: readonly number[];
  readonly tuningSeeds: number;
  readonly iterations: number;
  /** The episode limit, if that ends training instead of iterations. */
  readonly episodes?: number | undefined;
  readonly tasks: number;
  /** Default: what the engine plans, or 128. */
  readonly contextTokens: number | undefined;
  /** The code that makes the runs, in a few words. */
  readonly code: string;
  readonly stop: AbortSignal;
}

/** Called with the progress of a comparison. */
export interface ComparisonWatch {
  /** @param choice while it is tuned. */
  begin(id: string, seed: number, choice: ComparedChoice | undefined): void;
  /** An event of the run under way, whose folder has this name. */
  event(run: string, event: RunEvent): void;
  /** The policy that all methods begin from on a seed is about to be made. */
  imitates(run: string): void;
  result(id: string, seed: number, choice: ComparedChoice | undefined, run: ComparedRun): void;
}

const runsIn = (out: string): string => join(out, "runs.jsonl");

/** Whether runs of a comparison are finished already. */
export const hasRuns = ({ out }: Pick<ComparisonPlan, "out">): boolean => existsSync(runsIn(out));

/** @returns the runs, seed by seed so that a comparison that is cut short has whole pairs, and how the settings of each method that was tuned were chosen. */
export async function comparedRuns(
  plan: ComparisonPlan,
  watch: ComparisonWatch,
): Promise<{ readonly runs: readonly ComparedRun[]; readonly tuned: ReadonlyMap<string, TunedMethod> }> {
  const { contenders, seeds, tuningSeeds, out } = plan;
  const byId = new Map(contenders.map((contender) => [contender.id, contender]));
  const choiceOf = ({ arm, choice }: Unit): ComparedChoice | undefined => byId.get(arm)!.grid[choice];
  let tuning = true;
  const shown = (unit: Unit): ComparedChoice | undefined => (tuning ? choiceOf(unit) : undefined);
  const make = remembered<ComparedRun>({
    make: (unit) => oneRun(plan, byId.get(unit.arm)!, choiceOf(unit) ?? {}, unit.seed, watch),
    memory: runsIn(out),
    nameOf: (unit) => {
      const [contender, choice] = [byId.get(unit.arm)!, choiceOf(unit) ?? {}];
      return `${contender.with(choice).name}-${unit.seed}, ${iterationsOf(plan, contender, choice)} iterations`;
    },
    atOnce: 1,
    onBegin: (unit) => watch.begin(unit.arm, unit.seed, shown(unit)),
    onResult: (unit, run) => watch.result(unit.arm, unit.seed, shown(unit), run),
  });
  const sizes = new Map(contenders.map(({ id, grid }) => [id, grid.length]));
  const best = await tuneArms(sizes, tuningSeedsFor(tuningSeeds), ({ curve }) => mean(curve), make);
  tuning = false;
  const tuned = new Map(
    contenders.flatMap(({ id, grid }): [string, TunedMethod][] => {
      const { at, means } = best.get(id)!;
      const chosen = grid[at];
      if (!chosen) return [];
      const tried = means.map((training, i) => ({ choice: grid[i]!, training }));
      return [[id, { chosen, tried, atEdge: atEdge(chosen, listsIn(grid)) }]];
    }),
  );
  const runs = await make(
    seeds.flatMap((seed) => contenders.map(({ id }) => ({ arm: id, choice: best.get(id)!.at, seed }))),
  );
  return { runs, tuned };
}

/**
 * Planned iterations of a run: enough for its episodes. Where iterations are configured, those are of the first contender, and the
 * others get as many as come to the same number of episodes.
 */
function iterationsOf(plan: ComparisonPlan, contender: Contender, choice: ComparedChoice): number {
  const { contenders, iterations, episodes } = plan;
  const each = plannedEpisodes(plan, contender, choice);
  if (episodes !== undefined) return contender.weightFree ? episodes : Math.ceil(episodes / each);
  if (contender.weightFree) return iterations;
  const first = contenders.find(({ weightFree }) => !weightFree)!;
  return Math.max(1, Math.round((iterations * plannedEpisodes(plan, first, first.grid[0] ?? {})) / each));
}

/** Of an iteration, in which no task is played twice. */
function plannedEpisodes(
  { environment }: Pick<ComparisonPlan, "environment">,
  contender: Contender,
  choice: ComparedChoice,
): number {
  const { tasks, groupSize } = contender.with(choice);
  return Math.min(tasks, environment.tasks("train").length) * groupSize;
}

async function oneRun(
  plan: ComparisonPlan,
  contender: Contender,
  choice: ComparedChoice,
  seed: number,
  watch: ComparisonWatch,
): Promise<ComparedRun> {
  const { environment, out, episodes, tasks, contextTokens, stop } = plan;
  stop.throwIfAborted();
  const chosen = contender.with(choice);
  const name = `${chosen.name}-${seed}`;
  const weights = await startingWeights(seed, plan, watch);
  const engine = startedFrom(weights, await plan.engine());
  const began = performance.now();
  const done = await trained(plan, name, watch, {
    environment,
    method: chosen.build(engine.learningRate),
    engine,
    seed,
    iterations: iterationsOf(plan, contender, choice),
    episodes,
    contextTokens,
    warmStart: false,
    // every method is measured the same, whatever it begins from
    evaluation: { tasks, every: 0, mode: "sampled" },
  });
  return {
    method: contender.id,
    seed,
    heldOut: Object.fromEntries(
      done.after.filter((e) => e.mode === "sampled" && e.tasks > 0).map((e) => [e.split, e.success.mean]),
    ),
    ...(await curveOf(storeIn(out), done.out)),
    seconds: (performance.now() - began) / 1000,
    code: plan.code,
  };
}

/** The values of each name in a grid. */
const listsIn = (grid: readonly ComparedChoice[]): Readonly<Record<string, readonly OptionValue[]>> =>
  Object.fromEntries(
    Object.keys(grid[0] ?? {}).map((name) => [name, [...new Set(grid.map((choice) => choice[name]!))]]),
  );

/** Names of numbers of a choice that lie at an end of their list of three or more. */
const atEdge = (choice: ComparedChoice, lists: ReturnType<typeof listsIn>): readonly string[] =>
  Object.entries(lists).flatMap(([name, values]) => {
    const at = values.indexOf(choice[name]!);
    const inside =
      values.length < 3 || typeof choice[name] !== "number" || (at > 0 && at < values.length - 1);
    return inside ? [] : [name];
  });

const storeIn = (out: string): string => join(out, "whetstone.sqlite");

/** Trains in a folder of the comparison, or resumes there. */
async function trained({ out, stop }: ComparisonPlan, name: string, watch: ComparisonWatch, run: RunOptions) {
  const folder = join(out, name);
  const resume = existsSync(join(folder, "run.json"));
  try {
    const where = { out: folder, store: storeIn(out), resume };
    return await train({ ...run, ...where }, (event) => watch.event(name, event), stop);
  } finally {
    await run.engine.dispose();
  }
}

/** The policy of a seed before any training, where the environment has somebody to imitate: made once for all methods. */
async function startingWeights(
  seed: number,
  plan: ComparisonPlan,
  watch: ComparisonWatch,
): Promise<string | undefined> {
  const { environment, imitator, out, contextTokens } = plan;
  if (!environment.flawed) return undefined;
  const name = `start-${seed}`;
  const weights = join(out, name, "final");
  if (existsSync(weights)) return weights;
  watch.imitates(name);
  await trained(plan, name, watch, {
    environment,
    method: imitator,
    engine: await plan.engine(),
    seed,
    iterations: 0,
    contextTokens,
    evaluation: { tasks: 0, every: 0 },
  });
  return weights;
}

/** An engine whose policies begin from these weights; further models of a method begin as they would. */
function startedFrom(weights: string | undefined, engine: Engine): Engine {
  if (weights === undefined) return engine;
  return {
    ...engine,
    create: (request) => (request.id === "policy" ? engine.open("policy", weights) : engine.create(request)),
  };
}

async function curveOf(
  file: string,
  run: string,
): Promise<Pick<ComparedRun, "curve" | "episodes" | "tokens">> {
  const store = await openRunStore(file);
  try {
    const metrics = await store.metrics(run);
    const of = (name: string): number[] =>
      metrics
        .filter((m) => m.name === name)
        .sort((a, b) => a.iteration - b.iteration)
        .map((m) => m.value);
    return {
      curve: of("success"),
      episodes: of("total.episodes").at(-1) ?? 0,
      tokens: of("total.tokens.sampled").at(-1) ?? 0,
    };
  } finally {
    await store.close();
  }
}
