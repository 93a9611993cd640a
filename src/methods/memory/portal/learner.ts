/** The search over trees as pieces of a method: the rollout plays the tree, the update rewrites it. */

import { writtenBy } from "../../../common/artefacts/origins.ts";
import type { Ctx } from "../../../core/context.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "../../../core/json.ts";
import type { Rollout, Update } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { treeArtefact } from "../../../memory/behaviourTree/artefact.ts";
import { parseTree } from "../../../memory/behaviourTree/parse.ts";
import { type ProgramOptions, treeProgram } from "../../../memory/behaviourTree/program.ts";
import { type Found, improved, type Kept, type SearchOptions } from "../../../memory/behaviourTree/search.ts";
import { type Node, showTree } from "../../../memory/behaviourTree/tree.ts";

/** Settings of {@link treeSearch}. */
export interface TreeSearchOptions extends SearchOptions, ProgramOptions {
  /** The text of the initial tree. */
  readonly first: string;
}

/** The run's current tree: the best of those tried, on the seeds of their comparison. */
export const treeKey = "behaviour tree";
const archiveKey = "behaviour tree archive";

/**
 * A policy that is a behaviour tree, in the run's memory under {@link treeKey}. The rollout plays it once on every training
 * task; there are no units, since no weights are trained. The update requests rewrites, plays them on the same tasks, and
 * keeps the best; see {@link improved}. The best tree is the current artefact, so evaluation measures the tree and not
 * the run's model. An environment that declares `replay` gives all trees the same random draws.
 *
 * Stats: utility, success and turns of the kept tree, trees.played.
 */
export function treeSearch(options: TreeSearchOptions): {
  readonly rollout: Rollout;
  readonly update: Update;
} {
  const { grammar, first } = options;
  parseTree(first, grammar);
  const current = (ctx: Ctx): Node => parseTree(textOf(ctx.memory.get(treeKey)) ?? first, grammar);
  const play = async (ctx: Ctx, tree: Node): Promise<readonly Trajectory[]> => {
    const program = treeProgram(tree, options);
    const episodes = ctx.tasks.map(({ id }) => ctx.play({ task: id, attempt: 0, program }));
    return (await Promise.all(episodes)).flat();
  };
  return {
    rollout: async (ctx) => ({ trajectories: await play(ctx, current(ctx)), units: [] }),
    async update(ctx, _batch, _objectives, { trajectories }) {
      const tree = current(ctx);
      const found = await improved(
        tree,
        archived(ctx.memory.get(archiveKey), options),
        // the rollout has played the incumbent already
        async (one) => (one === tree ? trajectories : play(ctx, one)),
        options,
        ctx.random.split("trees"),
      );
      ctx.memory.set(treeKey, showTree(found.tree));
      adopt(ctx, found, trajectories, options);
      ctx.memory.set(
        archiveKey,
        found.archive.map(({ tree: one, utility }) => ({ tree: showTree(one), utility })),
      );
      const { success, turns } = found.report.metrics;
      return { steps: 0, utility: found.utility, success, turns, "trees.played": found.played };
    },
  };
}

/**
 * Makes this tree the default actor, for example in evaluation. A tree with neural nodes needs code and is not recorded.
 * @param read episodes of the tree that was rewritten.
 */
function adopt(
  ctx: Ctx,
  { tree, report }: Pick<Found, "tree" | "report">,
  read: readonly Trajectory[],
  { grammar, idle }: TreeSearchOptions,
): void {
  if ((grammar.neural ?? []).length > 0) return;
  const before = ctx.artefacts.current();
  const { success, turns } = report.metrics;
  const made = ctx.artefacts.propose({
    name: "tree",
    artefact: treeArtefact(tree, grammar, idle),
    parents: before ? [before.id] : [],
    why: `success in ${Math.round(100 * success)} % of ${ctx.tasks.length} episodes, ${turns.toFixed(1)} turns`,
    origins: { ...writtenBy("reflection"), trajectories: read.map(({ id }) => id) },
  });
  if ("id" in made) ctx.artefacts.adopt(made.id);
}

function archived(kept: Json | undefined, { grammar }: TreeSearchOptions): readonly Kept[] {
  return listOf(kept).flatMap((one) => {
    const tree = textOf(objectOf(one)?.tree);
    const utility = numberOf(objectOf(one)?.utility);
    return tree === undefined || utility === undefined ? [] : [{ tree: parseTree(tree, grammar), utility }];
  });
}
