/** One run of the report on curricula: a method in a shared world, at a budget of sampled tokens. */
import { mean } from "../../src/common/statistics/statistics.ts";
import type { OptionValue } from "../../src/core/slots.ts";
import type { Recipe } from "../../src/method/method.ts";
import { findMethod, methods } from "../../src/methods/catalogue.ts";
import { metricsOf } from "../../src/train/metrics.ts";
import type { Iteration } from "../../src/train/running.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import { pieces } from "./pieces.ts";
import type { World } from "./worlds.ts";

/** 48 attempts an iteration. */
const [tasks, groupSize] = [6, 8];

/** The step of a critic, where a method has one. */
const criticStep = 3;

/** Step sizes that everybody begins with, each √10 times the one before; more are tried while the best is at an end. */
export const firstRates: readonly number[] = [10, 30, 100, 300];
/** All step sizes, ascending. */
export const rates: readonly number[] = [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000];

/** Step sizes are chosen on the first; the others are reported. */
export const tuningSeeds = [811, 812, 813] as const;
export const reportedSeeds = Array.from({ length: 12 }, (_, i) => 1001 + i);

/** Curricula that cannot run in these worlds, and why; every other one of the catalogue is measured. */
export const leftOut: Readonly<Record<string, string>> = {
  "gain-rl": "needs hidden states, which tables do not have",
  soar: "needs a teacher that writes problems, and nothing it could write in these worlds is one",
  "viewbatch-rest": "imitates an expert and plays no episodes",
  "words-as-beacons": "needs tasks that list subgoals",
};

export const contestants: readonly Recipe[] = [
  findMethod("grpo"),
  ...methods.filter(({ id, family }) => family === "curriculum" && leftOut[id] === undefined),
  ...pieces,
];

/** What differs from a method's defaults: what its own check sets, with schedules that are as long a part of the run as there. */
export function optionsOf(
  method: string,
  { iterations, passes }: Pick<World, "iterations" | "passes">,
): Readonly<Record<string, OptionValue>> {
  const part = (share: number): number => Math.round(share * iterations);
  const options: Readonly<Record<string, Readonly<Record<string, OptionValue>>>> = {
    "craft-gui": { perStage: part(1 / 4) },
    currreft: { perStage: part(1 / 5), imitateFrom: part(9 / 10) },
    d3s: { relaxOver: iterations },
    deepsearch: { width: 4 },
    exit: { diverge: 0 },
    "one-shot-rlvr": { passes },
    "satori-coat": { kl: 0 },
    spear: { bonusOver: part(1 / 3), replayOver: part(1 / 3), masked: 0, fill: 0.5 },
    "ttt-discover": { kl: 0 },
    webrl: { beta: 0.1, phase: part(1 / 4) },
  };
  return options[method] ?? {};
}

/** What a run is determined by. */
export interface Key {
  readonly world: string;
  readonly method: string;
  readonly rate: number;
  readonly seed: number;
}

/** A run; shares are means over iterations. */
export interface CurriculaRun extends Key {
  /** Success once each tenth of the budget was used, [10]. */
  readonly curve: readonly number[];
  /** Of the groups, those in which no attempt succeeded, and those in which every one did. */
  readonly wrong: number;
  readonly right: number;
  /** Of the groups, those whose attempts all got no advantage. */
  readonly idle: number;
  readonly episodes: number;
  readonly tokens: number;
}

/** Mean over the budget: what learning fast and learning far both raise. */
export const successOf = ({ curve }: Pick<CurriculaRun, "curve">): number => mean(curve);

export const keyOf = ({ world, method, rate, seed }: Key): string => [world, method, rate, seed].join(" ");

/**
 * The step size to try next, or the chosen one: after the first ones, the next beyond an end for as long as the best of those tried is
 * there. Of equal ones the smaller is the best.
 * @param tried runs of one method in one world, on the tuning seeds.
 */
export function nextRate(tried: readonly CurriculaRun[]) {
  const means = new Map(
    [...Map.groupBy(tried, ({ rate }) => rate)].map(([rate, runs]) => [rate, mean(runs.map(successOf))]),
  );
  const first = firstRates.find((rate) => !means.has(rate));
  if (first !== undefined) return { kind: "try", rate: first } as const;
  const ascending = [...means].toSorted(([a], [b]) => a - b);
  const place = ascending.reduce((best, [, success], i) => (success > ascending[best]![1] ? i : best), 0);
  const [best] = ascending[place]!;
  const at = rates.indexOf(best);
  const beyond = place === 0 ? rates[at - 1] : place === ascending.length - 1 ? rates[at + 1] : undefined;
  if (beyond !== undefined) return { kind: "try", rate: beyond } as const;
  return { kind: "chosen", rate: best, isAtEnd: at === 0 || at === rates.length - 1 } as const;
}

/** Share of an iteration's groups of two or more in which no advantage differs from 0; undefined without such a group. */
export function idleGroups({ experience, advantages }: Pick<Iteration, "experience" | "advantages">) {
  const groups = [...Map.groupBy(experience.units, ({ group }) => group).values()]
    .map((units) => units.flatMap(({ members }) => members))
    .filter(({ length }) => length > 1);
  const isIdle = (id: string): boolean => advantages.get(id)?.every((a) => Math.abs(a) < 1e-9) ?? true;
  return groups.length === 0
    ? undefined
    : mean(groups.map((members) => Number(members.every((id) => isIdle(id)))));
}

/** Trains until the tokens are used up; the last iteration may take a few more. */
export async function curriculaRun(
  recipe: Recipe,
  world: World,
  rate: number,
  seed: number,
): Promise<CurriculaRun> {
  const environment = world.environment(seed);
  const engine = world.engine(seed);
  const used = new AbortController();
  const [curve, wrong, right, idle]: [number[], number[], number[], number[]] = [[], [], [], []];
  let cost = { episodes: 0, tokens: 0 };
  const settings = {
    ...plainAscent,
    ...{ tasks, groupSize, learningRate: rate, criticRate: criticStep / rate },
  };
  try {
    await trainInMemory({
      environment,
      engine,
      method: recipe.build(settings, optionsOf(recipe.id, world)),
      seed,
      iterations: 1_000_000,
      contextTokens: 256,
      stop: used.signal,
      onIteration: async (done, state, policy) => {
        const { solvedGroups, unsolvedGroups } = metricsOf(done, state);
        if (unsolvedGroups !== undefined) wrong.push(unsolvedGroups);
        if (solvedGroups !== undefined) right.push(solvedGroups);
        const without = idleGroups(done);
        if (without !== undefined) idle.push(without);
        const { counters } = state;
        cost = { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 };
        const tenths = Math.min(10, Math.floor((10 * cost.tokens) / world.tokens));
        if (tenths > curve.length) {
          const success = await world.success(policy, environment);
          while (curve.length < tenths) curve.push(success);
        }
        if (cost.tokens >= world.tokens) used.abort();
      },
    });
  } catch (e) {
    if (!used.signal.aborted) throw e;
  }
  await engine.dispose();
  return {
    ...{ world: world.name, method: recipe.id, rate, seed, curve },
    ...{ wrong: mean(wrong), right: mean(right), idle: mean(idle), ...cost },
  };
}
