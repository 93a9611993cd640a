/** What a method trains in the smoke run: the run of its check where that trains this very method, else one chosen here. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { facts } from "../../src/env/facts/facts.ts";
import { users } from "../../src/env/users/users.ts";
import type { Recipe } from "../../src/method/method.ts";
import type { Settings } from "../../src/method/settings.ts";
import { paperFolder } from "../../src/methods/folders.ts";
import type { Check } from "../../src/train/check.ts";
import type { TrainInMemoryOptions } from "../../src/train/trainInMemory.ts";
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

/** Methods that never change a weight, with what they change instead. */
const weightless: Readonly<Record<string, string>> = {
  "agentfly-memento": "it writes a memory of cases; the model stays frozen",
  "best-of-n": "it selects among samples and trains nothing",
  portal: "its policy is a behaviour tree, which is rewritten",
};

/** Why a method is left out of the smoke run; undefined if it takes part. */
export function skipped(method: Recipe): string | undefined {
  if (method.kind === "diagnostic") return "a diagnostic, which tests a law and trains nothing";
  if (method.weightFree) return "it learns without weights";
  return weightless[method.id];
}

/** Environments of methods whose check trains no policy with them, or that have none. */
const chosen: Readonly<Record<string, () => TrainInMemoryOptions["environment"]>> = {
  causalrm: () => users({ pays: "thumb" }), // users who are often silent
  dpo: () => preferenceGame(), // has a judge of pairs
  ipo: () => preferenceGame(),
  rewardharness: () => preferenceGame(),
};

/** The run of a method, not yet begun. */
export async function runOf(method: Recipe, seed: number): Promise<SmokeRun> {
  const found = await checked(method, seed);
  if (found?.method.id === method.id) return found;
  const environment = chosen[method.id]?.() ?? found?.environment ?? facts();
  return { environment, method: method.build(settings), iterations: 100 };
}

/** The first run of the method's arm of its check. */
async function checked(method: Recipe, seed: number): Promise<SmokeRun | undefined> {
  const file = join(paperFolder(method.id)!.path, "check.ts");
  if (!existsSync(file)) return undefined;
  const { default: check }: { default: Check } = await import(pathToFileURL(file).href);
  try {
    await check.method.measure({ ...check.method.grid[0], ...settings }, seed);
    return undefined; // it has no policy to train
  } catch (e) {
    if (e instanceof RunFound) return e.run;
    throw e;
  }
}
