/** An arm of a check that trains in an environment: a method of the catalogue, or a variant of one. */

import { mean } from "../common/statistics/statistics.ts";
import type { Model } from "../core/model.ts";
import type { OptionValue } from "../core/slots.ts";
import type { Environment } from "../env/environment.ts";
import type { Recipe } from "../method/method.ts";
import { defaultSettings, type Settings } from "../method/settings.ts";
import type { Arm, Choice } from "./check.ts";
import type { TrainedInMemory, TrainInMemoryOptions } from "./trainInMemory.ts";
import { trainInMemory } from "./trainInMemory.ts";

/**
 * Settings of {@link trainingArm}: a recipe, where it trains and for how long, the settings to choose from, and what is
 * measured.
 */
export interface TrainingArm
  extends Pick<TrainInMemoryOptions, "iterations" | "episodes" | "contextTokens" | "prepare"> {
  /** Default: the recipe's summary. */
  readonly what?: string;
  readonly recipe: Recipe;
  /** Settings that hold for every choice. */
  readonly settings?: Partial<Settings>;
  /** Settings and options of the recipe's own to choose from, e.g. `[{ learningRate: 0.1 }, { learningRate: 0.3 }]`. */
  readonly grid: readonly Choice[];
  /** Made anew for each run. */
  environment(seed: number): TrainInMemoryOptions["environment"];
  engine(seed: number): TrainInMemoryOptions["engine"];
  /** A number of the policy itself, looked at after every iteration: it becomes the curve. Default: success in training. */
  follow?(policy: Model, environment: Environment): number | Promise<number>;
  /** What the run is judged by. Default: mean of what is followed over all iterations. */
  metric?(done: TrainedInMemory, seed: number): number | Promise<number>;
  /** Further numbers. */
  more?(
    done: TrainedInMemory,
    seed: number,
  ): Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;
}

/** Plain gradient ascent, a step per iteration: what an exact table needs. */
export const plainAscent = {
  minibatches: 1,
  schedule: "constant",
  warmUp: 0,
  optimiser: "sgd",
  gradientClip: 1e9,
} as const satisfies Partial<Settings>;

/** @example trainingArm({ recipe: rloo, environment: () => corridor(), engine: () => tabularEngine(), iterations: 100, grid }) */
export function trainingArm(of: TrainingArm): Arm {
  const { recipe, settings, grid, iterations, episodes, contextTokens, prepare, follow } = of;
  return {
    what: of.what ?? recipe.summary,
    grid,
    async measure(choice, seed) {
      const engine = of.engine(seed);
      try {
        const environment = of.environment(seed);
        const followed: number[] = [];
        const done = await trainInMemory({
          environment,
          method: recipe.build({ ...settings, ...settingsIn(choice) }, optionsIn(recipe, choice)),
          engine,
          seed,
          iterations,
          ...(episodes === undefined ? {} : { episodes }),
          ...(contextTokens === undefined ? {} : { contextTokens }),
          ...(prepare ? { prepare } : {}),
          ...(follow && {
            onIteration: async (_done, _state, policy) =>
              void followed.push(await follow(policy, environment)),
          }),
        });
        const { metric = follow ? () => mean(followed) : meanSuccess } = of;
        const { counters } = done;
        return {
          value: await metric(done, seed),
          cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
          curve: follow ? followed : done.curve.map((m) => m.success ?? Number.NaN),
          ...(of.more ? { more: await of.more(done, seed) } : {}),
        };
      } finally {
        await engine.dispose();
      }
    },
  };
}

/** A choice is settings by name; `build` checks each. */
const settingsIn = (choice: Choice): Partial<Settings> =>
  Object.fromEntries(Object.entries(choice).filter(([name]) => name in defaultSettings));

/** Of the rest, the recipe's own options. */
const optionsIn = ({ options }: Recipe, choice: Choice): Readonly<Record<string, OptionValue>> =>
  Object.fromEntries(Object.entries(choice).filter(([name]) => name in options)) as Readonly<
    Record<string, OptionValue>
  >;

/** Mean success over all iterations of training: what learning fast and learning far both raise. */
export const meanSuccess = ({ curve }: TrainedInMemory): number => averageOf(curve, "success");

/** Mean success of the last iterations. */
export const finalSuccess =
  (last = 10) =>
  ({ curve }: TrainedInMemory): number =>
    averageOf(curve.slice(-last), "success");

/** Mean of a metric over iterations that have it. */
export function averageOf(curve: TrainedInMemory["curve"], name: string): number {
  const found = curve.flatMap((m) => (m[name] === undefined ? [] : [m[name]]));
  return found.reduce((a, b) => a + b, 0) / found.length;
}
