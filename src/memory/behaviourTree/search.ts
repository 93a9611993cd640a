import type { Random } from "../../core/random.ts";
import type { Trajectory } from "../../core/types.ts";
import { type Report, reportOf, type Utility, usualUtility } from "./report.ts";
import { type Grammar, type Node, showTree } from "./tree.ts";

/** A tree with its report and utility on the seeds that it was last played on. */
export interface Kept {
  readonly tree: Node;
  readonly utility: number;
}

/** Input of a rewriter. */
export interface Wish {
  readonly tree: Node;
  readonly report: Report;
  /** Good earlier trees, the best first. */
  readonly archive: readonly Kept[];
  readonly grammar: Grammar;
  /** Requested number of proposals; a rewriter may return fewer. */
  readonly count: number;
  readonly random: Random;
}
/** Proposes trees: a stochastic grammar, a language model, or a person. Every proposal must follow the grammar. */
export type Rewriter = (wish: Wish) => Promise<readonly Node[]>;

/** Settings of {@link improved}. */
export interface SearchOptions {
  readonly rewrite: Rewriter;
  readonly grammar: Grammar;
  /** Proposals in each round. Default 4. */
  readonly proposals?: number;
  /** Default: success − 0.005 · turns. */
  readonly utility?: Utility;
  /** Number of trees kept beside the best. Default 4. */
  readonly archive?: number;
  /** The next incumbent: the best tree, or the first proposal whatever its utility (a random walk). Default "best". */
  readonly keeps?: "best" | "proposal";
}

/** State of a search after a round. */
export interface Found extends Kept {
  readonly report: Report;
  readonly archive: readonly Kept[];
  /** Number of trees played in this round. */
  readonly played: number;
}

/**
 * One round of program search: the incumbent is played and rewritten from its report; the best tree becomes the incumbent.
 *
 *     T ← argmax over {T, proposals} of w · m(tree), all on the same seeds; a tie keeps T
 *
 * The incumbent is played again in every round, since an old lucky score would block progress. Proposals equal to the
 * incumbent are not played.
 * @param play plays the same episodes for every tree: same tasks, same seeds.
 * Paper: "Agents Play Thousands of 3D Video Games".
 */
export async function improved(
  tree: Node,
  archive: readonly Kept[],
  play: (tree: Node) => Promise<readonly Trajectory[]>,
  options: SearchOptions,
  random: Random,
): Promise<Found> {
  const { rewrite, grammar, proposals: count = 4, utility = usualUtility, keeps = "best" } = options;
  const tried = async (one: Node) => {
    const report = reportOf(await play(one));
    return { tree: one, report, utility: utility(report.metrics) };
  };
  const incumbent = await tried(tree);
  const written = await rewrite({ tree, report: incumbent.report, archive, grammar, count, random });
  const fresh = distinct(
    written.map((one) => ({ tree: one })),
    [tree],
  );
  const candidates = await Promise.all(fresh.map((one) => tried(one.tree)));
  const best =
    keeps === "best"
      ? candidates.reduce((a, b) => (b.utility > a.utility ? b : a), incumbent)
      : (candidates[0] ?? incumbent);
  const kept = [incumbent, ...candidates, ...archive].toSorted((a, b) => b.utility - a.utility);
  const size = options.archive ?? 4;
  return {
    ...best,
    archive: distinct(kept)
      .slice(0, size)
      .map(({ tree: one, utility: u }) => ({ tree: one, utility: u })),
    played: 1 + candidates.length,
  };
}

/** Removes duplicates and known trees; keeps the first of equal trees. */
function distinct<K extends { readonly tree: Node }>(
  all: readonly K[],
  known: readonly Node[] = [],
): readonly K[] {
  const seen = new Set(known.map(showTree));
  return all.filter(({ tree }) => {
    const text = showTree(tree);
    return !seen.has(text) && seen.add(text);
  });
}
