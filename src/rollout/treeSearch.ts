/** Monte Carlo tree search over the turns of an environment that can replay. */
import type { Ctx, Play } from "../core/context.ts";
import type { Rollout } from "../core/slots.ts";
import { type Id, paid, type Trajectory } from "../core/types.ts";
import {
  addEpisode,
  bestChild,
  newTree,
  revisit,
  type SearchNode,
  type SelectionRule,
  wayDown,
} from "./searchTree.ts";

/** Settings of {@link treeSearch}. */
export interface TreeSearchOptions {
  /** Simulations at each step of the walk; see `walk`. */
  readonly simulations: number;
  /** Actions that are sampled in a situation before the search chooses among them. */
  readonly width: number;
  /** At the start, simulations are multiplied by it. Default 1. */
  readonly first?: number;
  /** At the start, the width is multiplied by it. Default 1. */
  readonly firstWidth?: number;
  readonly rule: SelectionRule;
  /** Whether the search then goes on from the best child, down to an end. Default: all simulations begin at the start. */
  readonly walk?: boolean;
  /** Return of an episode. Default: the sum of its rewards. */
  readonly worth?: (t: Trajectory) => number;
  readonly temperature?: number;
  /** Restricts actions to the legal ones; see `Play.constrained`. */
  readonly constrained?: boolean;
  /** Limits below the environment's own. */
  readonly limits?: Play["limits"];
}

/**
 * Searches a tree of episodes for each training task with the current policy. A simulation goes down from the root by the
 * rule to a situation where fewer than `width` actions were sampled, continues from there to the end of the episode, and
 * adds its return to all that it passed:
 *
 *     N(s) ← N(s) + 1,   Q(s) = mean return of the episodes through s
 *
 * Equal actions of a situation are one child. An end that is chosen again counts again, without an episode. With `walk`, the
 * root moves to its child of the highest Q after `simulations`, and the episodes below it stay; so the last steps are searched as
 * well as the first.
 *
 * Every simulation is an episode of the run and counts as one; what it replays costs turns of the environment and no tokens.
 * The simulations of a task follow one another, and tasks run side by side. Units: one trajectory each, grouped by task. The tree
 * can be made again from the trajectories (`treeOfEpisodes`). Needs an environment that can replay, with one role that the
 * policy plays: opponents are part of the environment.
 * Stats: `searched`, mean number of different situations per task.
 * Paper: "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning".
 */
export function treeSearch(options: TreeSearchOptions): Rollout {
  return async (ctx) => {
    const searched = await Promise.all(ctx.tasks.map(({ id }) => searchOf(ctx, id, options)));
    const trajectories = searched.flatMap((search) => search.trajectories);
    return {
      trajectories,
      units: trajectories
        .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
        .map((t) => ({ id: t.id, group: t.task, members: [t.id] })),
      stats: {
        searched: searched.reduce((sum, { root }) => sum + sizeOf(root) / searched.length, 0),
      },
    };
  };
}

async function searchOf(ctx: Ctx, task: Id, options: TreeSearchOptions) {
  const { simulations, first = 1, walk = false } = options;
  const root = newTree();
  const trajectories: Trajectory[] = [];
  let past: readonly SearchNode[] = [];
  for (let top: SearchNode | undefined = root; top && !top.ended; top = walk ? bestChild(top) : undefined) {
    const count = top === root ? simulations * first : simulations;
    for (let k = 0; k < count; k++) {
      const played = await simulated(ctx, task, [...past, top], trajectories.length, options, root);
      trajectories.push(...played);
    }
    past = [...past, top];
  }
  return { root, trajectories };
}

/** One simulation from the last of these situations; nothing where it came to an end that is known. */
async function simulated(
  ctx: Ctx,
  task: Id,
  down: readonly SearchNode[],
  attempt: number,
  { width, firstWidth = 1, rule, temperature, constrained, limits, worth = paid }: TreeSearchOptions,
  root: SearchNode,
): Promise<readonly Trajectory[]> {
  const way = wayDown(down.at(-1)!, rule, (depth) => (depth === 0 ? width * firstWidth : width));
  const { depth, through, ended } = way.at(-1)!;
  if (ended) {
    revisit([...down.slice(0, -1), ...way]);
    return [];
  }
  const played = await ctx.play({
    task,
    attempt,
    ...(through && depth > 0 && { from: { trajectory: through, turn: depth, why: "branch" } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(constrained ? { constrained } : {}),
    ...(limits ? { limits } : {}),
  });
  const t = played[0];
  // a situation in which every episode fails must not be chosen for ever
  if (t === undefined || t.end.kind === "failed") way.at(-1)!.sampled++;
  else addEpisode(root, t, worth(t), depth);
  return played;
}

const sizeOf = (node: SearchNode): number =>
  [...node.children.values()].reduce((sum, child) => sum + sizeOf(child), 1);
