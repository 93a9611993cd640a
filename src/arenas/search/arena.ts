/** Arena "search": questions over real-world facts that take three or more look-ups, with one reward at the end. */
import type { Task } from "../../core/types.ts";
import type { Environment } from "../../env/environment.ts";
import { facts } from "../../env/facts/facts.ts";
import type { Arena } from "../arena.ts";

/**
 * Three or four commands before the answer. A question about a place or a native name says less than has to be looked up:
 * the first look-up fails, and the agent has to find the country by itself.
 */
function isLong(task: Task): boolean {
  const { start, path } = task.metadata as { readonly start: string; readonly path: readonly string[] };
  return start === "place" || start === "native" || path.length >= 3;
}

function environment(): Environment {
  const world = facts();
  const splits: Readonly<Record<string, readonly Task[]>> = Object.fromEntries(
    ["train", "validation", "test"].map((split) => [split, world.tasks(split).filter(isLong)]),
  );
  return { ...world, name: "search", splits: Object.keys(splits), tasks: (split) => splits[split] ?? [] };
}

export const search: Arena = {
  name: "search",
  summary: "three or four searches and look-ups, one reward at the end, held-out names",
  folder: import.meta.dirname,
  environment,
  budget: { iterations: 16, tasks: 4, groupSize: 8, contextTokens: 96 },
  rates: [1.5e-4, 4e-4, 1e-3],
  tuningSeeds: 5,
  seeds: 8,
  warmStart: {
    size: { width: 96, layers: 2, heads: 2, kvHeads: 2, feedForward: 192 },
    updates: 220,
    environment: facts,
  },
};
