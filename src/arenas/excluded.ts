/** Methods that take no part in an arena, each with the reason. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Recipe } from "../method/method.ts";

export interface Excluded {
  readonly method: string;
  readonly why: string;
}

/** Methods that need a model and still fit no arena. */
const unfit: Readonly<Record<string, string>> = {
  "agentfly-memento": "it writes a memory of cases; the model stays frozen",
  "best-of-n": "it selects among samples and trains nothing",
  dreamgym: "its practice in imagined episodes alone is longer than the budget",
  "gui-exploration-lab": "the first of its three stages, imitation of the expert, is longer than the budget",
  portal: "its policy is a behaviour tree, which is rewritten",
  rl4mle:
    "it collects episodes until a deadline in simulated seconds, which actions of the arenas do not take: a run lasts minutes",
  "yay-robot": "it makes 150 updates in an iteration: a run lasts minutes",
};

/** Whether runs of a method that were made all the same are left out of results. */
export const isUnfit = (method: string): boolean => Object.hasOwn(unfit, method);

/** Why a method cannot take part in any arena; undefined if only a run can tell. */
export function excludedFrom(recipe: Recipe): string | undefined {
  if (recipe.weightFree) return "it learns without weights";
  return unfit[recipe.id];
}

export const readExcluded = (file: string): readonly Excluded[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Excluded)
    : [];

/** JSON lines, by method. */
export function writeExcluded(file: string, excluded: readonly Excluded[]): void {
  const sorted = excluded.toSorted((a, b) => (a.method < b.method ? -1 : 1));
  writeFileSync(file, sorted.map((e) => `${JSON.stringify(e)}\n`).join(""));
}
