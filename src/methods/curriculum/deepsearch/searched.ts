import type { Ctx } from "../../../core/context.ts";
import { fromExactJson, type Json, listOf, toExactJson } from "../../../core/json.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import { type Id, succeeded, type Task, type Trajectory, type Unit } from "../../../core/types.ts";
import {
  backUp,
  childOf,
  chosenLeaf,
  creditsOf,
  descended,
  frontierOf,
  type Node,
  rootNode,
  verdictOf,
} from "./tree.ts";

/** Settings of {@link searched}. */
export interface SearchedOptions {
  /** Leaves that a search backs up, and attempts at a solved task. */
  readonly leaves: number;
  readonly temperature?: number;
  /** Next turns of an expanded node. */
  readonly width: number;
  /** λ of the local rule. */
  readonly exploration: number;
  /** l₂ of the rule of the frontier. */
  readonly entropy: number;
  /** Turns after which an attempt counts as incomplete. */
  readonly depth: number;
  /** Stored successes among the attempts at a solved task; −1 stores none and searches every task. */
  readonly stored: number;
}

/** Names in the run's memory: credits of this iteration's turns, and successes by task. */
const credited = "deepsearch.credits";
const solved = (task: Id): string => `deepsearch.solved ${task}`;
/** Successes that are kept per task. */
const kept = 8;

/** An attempt with the advantage of each of its turns. */
interface Credited {
  readonly attempt: Trajectory;
  readonly credits: readonly number[];
}

/**
 * Tree search for tasks without a stored success, plain attempts for the others.
 *
 * A search expands a node into `width` next turns, backs up at most one attempt that ends there, and goes down; after an attempt that
 * ended it goes on from the best node of the frontier. A node that no turn can follow, such as at the end of the context, counts as an
 * attempt that was cut. The search is over once `leaves` attempts are backed up, or nothing is left to expand;
 * only these attempts are trained on. At a solved task, the first of the plain attempts give way to stored successes, with
 * the log-probabilities they were sampled with, and the credit is the verdict minus the group's mean.
 *
 * Needs an environment that can replay. Units: one trajectory each, grouped by task.
 * Stats: searched, share of the tasks; found, share of searches with a success; segments, turns played per search.
 * Paper: "DeepSearch: Overcome the Bottleneck of Reinforcement Learning with Verifiable Rewards via Monte Carlo Tree Search".
 */
export function searched(options: SearchedOptions): Rollout {
  return async (ctx) => {
    const played = await Promise.all(
      ctx.tasks.map(async (task) => {
        const known = listOf(ctx.memory.get(solved(task.id))).map(
          (text) => fromExactJson(String(text)) as Trajectory,
        );
        const isSearched = known.length === 0;
        const { group, segments } = isSearched
          ? await search(ctx, task, options)
          : { group: await plain(ctx, task, known, options), segments: 0 };
        const successes = group
          .map(({ attempt }) => attempt)
          .filter((t) => succeeded(t) && !known.includes(t));
        if (options.stored >= 0 && successes.length > 0)
          ctx.memory.set(solved(task.id), [...known, ...successes].slice(-kept).map(toExactJson));
        return { task, group, segments, isSearched, found: successes.length > 0 };
      }),
    );
    const all = played.flatMap(({ group }) => group);
    ctx.memory.set(
      credited,
      Object.fromEntries(all.map(({ attempt, credits }): [string, Json] => [attempt.id, credits])),
    );
    const trees = played.filter(({ isSearched }) => isSearched);
    const share = (n: number): Record<string, number> =>
      trees.length === 0 ? {} : { found: n / trees.length };
    return {
      trajectories: all.map(({ attempt }) => attempt),
      units: played.flatMap(({ task, group }) =>
        group.map(({ attempt: { id } }): Unit => ({ id, group: task.id, members: [id] })),
      ),
      stats: {
        searched: trees.length / Math.max(1, played.length),
        ...share(trees.filter(({ found }) => found).length),
        ...(trees.length > 0 && {
          segments: trees.reduce((sum, { segments }) => sum + segments / trees.length, 0),
        }),
      },
    };
  };
}

async function search(
  ctx: Ctx,
  task: Task,
  options: SearchedOptions,
): Promise<{ readonly group: readonly Credited[]; readonly segments: number }> {
  const { leaves, width, exploration, depth } = options;
  const root = rootNode();
  const ended: Node[] = [];
  let segments = 0;
  let at: Node | undefined = root;
  while (at && ended.length < leaves) {
    const node: Node = at;
    const next = await Promise.all(
      Array.from({ length: width }, (_, i) => oneTurnMore(ctx, task, node, segments + i, options)),
    );
    segments += width;
    node.isExpanded = true;
    node.children = next.flat().map((attempt) => childOf(node, attempt, depth));
    // what nothing can follow is an attempt that was cut, or the search would look for one that is not among all others
    const isCut = node.children.length === 0 && node !== root;
    const leaf = isCut ? node : chosenLeaf(node.children.filter(({ isLeaf }) => isLeaf));
    for (const child of node.children) if (!child.isLeaf) child.visits++;
    if (leaf) {
      backUp(leaf, verdictOf(leaf.attempt!));
      ended.push(leaf);
    }
    at = leaf ? frontierOf(root, options) : descended(node, exploration);
  }
  const credits = creditsOf(ended);
  return { group: ended.map((leaf, i) => ({ attempt: leaf.attempt!, credits: credits[i]! })), segments };
}

/** A node's attempt with another turn; none where it failed or no turn could follow. */
async function oneTurnMore(
  ctx: Ctx,
  task: Task,
  { attempt, depth }: Node,
  number: number,
  { temperature }: SearchedOptions,
): Promise<readonly Trajectory[]> {
  const played = await ctx.play({
    task: task.id,
    attempt: number,
    limits: { turns: depth + 1 },
    ...(attempt && { from: { trajectory: attempt, turn: depth, why: "branch" } }),
    ...(temperature !== undefined && { temperature }),
  });
  return played.filter(({ end, turns }) => end.kind !== "failed" && turns.length === depth + 1);
}

async function plain(
  ctx: Ctx,
  task: Task,
  known: readonly Trajectory[],
  { leaves, stored, temperature }: SearchedOptions,
): Promise<readonly Credited[]> {
  const taken = known.slice(-stored).slice(0, Math.max(0, stored));
  const fresh = await Promise.all(
    Array.from({ length: Math.max(0, leaves - taken.length) }, (_, attempt) =>
      ctx.play({ task: task.id, attempt, ...(temperature !== undefined && { temperature }) }),
    ),
  );
  const attempts = [...taken, ...fresh.flat()].filter(
    ({ end, turns }) => end.kind !== "failed" && turns.length > 0,
  );
  const mean = attempts.reduce((sum, t) => sum + verdictOf(t) / attempts.length, 0);
  return attempts.map((attempt) => ({
    attempt,
    credits: attempt.turns.map(() => verdictOf(attempt) - mean),
  }));
}

/** The advantages of the turns, as {@link searched} left them in the run's memory. Signals on channel "tree". */
export function treeCredit(): Feedback {
  return async (ctx, { trajectories }) => {
    const credits = (ctx.memory.get(credited) ?? {}) as Readonly<Record<Id, readonly number[]>>;
    return trajectories.flatMap(({ id }) =>
      (credits[id] ?? []).map((value, turn) => ({
        kind: "reward" as const,
        channel: "tree",
        about: [{ trajectory: id, turn }],
        value,
        source: "search",
      })),
    );
  };
}
