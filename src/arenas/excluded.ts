/** Methods that take no part in an arena, each with the reason. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Recipe } from "../method/method.ts";

export interface Excluded {
  readonly method: string;
  readonly why: string;
}

/** Methods that never change a weight although they need a model that could, with what they change instead. */
const weightless: Readonly<Record<string, string>> = {
  "agentfly-memento": "it writes a memory of cases; the model stays frozen",
  "best-of-n": "it selects among samples and trains nothing",
  "negotiation-icl-aif": "what it learns is in the context; the model stays frozen",
  portal: "its policy is a behaviour tree, which is rewritten",
};

/** Why a method trains no weights; undefined if it does. */
export const withoutWeights = (recipe: Recipe): string | undefined =>
  recipe.weightFree ? "it learns without weights" : weightless[recipe.id];

/** Methods whose runs last minutes. */
const slow: Readonly<Record<string, string>> = {
  rl4mle:
    "it collects episodes until a deadline in simulated seconds, which actions of the arenas do not take: a run lasts minutes",
  "yay-robot": "it makes 150 updates in an iteration: a run lasts minutes",
};

/** Methods of games with several roles; an arena has one. */
const playing = ["fictitious-self-play", "league-self-play", "magnetic-self-play"];
const severalRoles = ({ id }: Recipe): string | undefined =>
  playing.includes(id) ? "it plays games of several roles, and the arenas have one role" : undefined;

/** Why a method cannot take part in an arena of so many iterations; undefined if only a run can tell. */
export const excludedFrom = (recipe: Recipe, iterations: number): string | undefined =>
  withoutWeights(recipe) ?? severalRoles(recipe) ?? slow[recipe.id] ?? unreached(recipe, iterations);

/** What runs of a method whose later stages begin after the end would be is its first stage alone. */
function unreached(recipe: Recipe, iterations: number): string | undefined {
  const late = recipe.build().phases?.find(({ from, until = 0 }) => Math.max(from, until) >= iterations);
  return late && `its stage "${late.name}" begins or ends after the ${iterations} iterations of the budget`;
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
