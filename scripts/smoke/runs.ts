/** What a method trains in the smoke run: the run of its check where that trains this very method, else one chosen here. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rockPaperScissors } from "../../src/env/games/cyclic.ts";
import { gameEnvironment } from "../../src/env/games/environment.ts";
import { textMaze } from "../../src/env/textMaze.ts";
import { users } from "../../src/env/users/users.ts";
import type { Recipe } from "../../src/method/method.ts";
import type { Settings } from "../../src/method/settings.ts";
import { paperFolder } from "../../src/methods/folders.ts";
import type { Check } from "../../src/train/check.ts";
import type { TrainInMemoryOptions } from "../../src/train/trainInMemory.ts";
import { answers } from "../../src/worlds/answers.ts";
import { keyDoor } from "../../src/worlds/keyDoor.ts";
import { lamps } from "../../src/worlds/lamps.ts";
import { preferenceGame } from "../../src/worlds/preferenceGame.ts";
import { RunFound } from "./trainInMemory.ts";

export type SmokeRun = Pick<TrainInMemoryOptions, "environment" | "method" | "contextTokens" | "iterations">;

/** A step size for transformers, where checks have those of tables. */
const settings = {
  learningRate: 1e-3,
  optimiser: "adamw",
  gradientClip: 1,
  schedule: "constant",
  warmUp: 0,
} as const satisfies Partial<Settings>;

/** Environments of methods whose check does not train them on one, in place of {@link usual}. */
const chosen: Readonly<Record<string, () => TrainInMemoryOptions["environment"]>> = {
  autolibra: () => keyDoor(), // is commented on in words
  causalrm: () => users({ pays: "thumb" }), // users who are often silent
  dpo: () => preferenceGame(), // has a judge of pairs
  ipo: () => preferenceGame(),
  "fictitious-self-play": () => gameEnvironment(rockPaperScissors()), // needs several roles
  "league-self-play": () => gameEnvironment(rockPaperScissors()),
  "lmrl-gym": () => textMaze({ layouts: 1, turns: 10 }), // its check makes ten passes over 240 walks of 50 moves
  "magnetic-self-play": () => gameEnvironment(rockPaperScissors()),
  "re-rest": () => answers({ vocabulary: 8 }), // imitates successes, which its check makes rare
  rewardharness: () => preferenceGame(),
};
/** Methods that a transformer with random weights gives nothing to learn from, each with the reason. */
export const unsuited: Readonly<Record<string, string>> = {
  soar: "its teacher earns nothing before a text is a problem that helps, which random texts are not",
};
/** Several turns, and rewards that random actions differ in. */
const usual = () => lamps();

/** The run of a method, not yet begun. */
export async function runOf(method: Recipe, seed: number): Promise<SmokeRun> {
  const own = chosen[method.id];
  const found = own ? undefined : await checked(method, seed);
  if (found?.method.id === method.id) return found;
  const environment = own?.() ?? found?.environment ?? usual();
  const size = { tasks: 8, groupSize: Math.min(4, method.defaults.groupSize) };
  return { environment, method: method.build({ ...settings, ...size }), iterations: 100 };
}

type Prepare = NonNullable<TrainInMemoryOptions["prepare"]>;

/** A check may prepare its policy by a run, which is only found here: the smoke run imitates by itself. */
const prepared =
  (prepare: Prepare): Prepare =>
  async (policy) => {
    try {
      await prepare(policy);
    } catch (e) {
      if (!(e instanceof RunFound)) throw e;
    }
  };

/** The first run of the method's arm of its check. */
async function checked(method: Recipe, seed: number): Promise<SmokeRun | undefined> {
  const file = join(paperFolder(method.id)!.path, "check.ts");
  if (!existsSync(file)) return undefined;
  const { default: check }: { default: Check } = await import(pathToFileURL(file).href);
  try {
    await check.method.measure({ ...check.method.grid[0], ...settings }, seed);
    return undefined; // it has no policy to train
  } catch (e) {
    if (e instanceof RunFound)
      return { ...e.run, ...(e.run.prepare && { prepare: prepared(e.run.prepare) }) };
    throw e;
  }
}
