import type { Random } from "../../core/random.ts";
import type { Trajectory } from "../../core/types.ts";
import { type Report, reportOf, type Utility, usualUtility } from "./report.ts";
import { type Grammar, type Node, showTree } from "./tree.ts";

/** A tree with what it came to on the seeds that it was last played on. */
export interface Kept {
  readonly tree: Node;
  readonly utility: number;
}

/** What a rewriter is told. */
export interface Wish {
  readonly tree: Node;
  readonly report: Report;
  /** Good trees of before, the best first. */
  readonly archive: readonly Kept[];
  readonly grammar: Grammar;
  /** Proposals wanted; fewer may come. */
  readonly count: number;
  readonly random: Random;
}
/** Who proposes trees: a stochastic grammar, a language model, a person. Every proposal keeps to the grammar. */
export type Rewriter = (wish: Wish) => Promise<readonly Node[]>;

/** Settings of {@link improved}. */
export interface SearchOptions {
  readonly rewrite: Rewriter;
  readonly grammar: Grammar;
  /** Proposals in each round. Default 4. */
  readonly proposals?: number;
  /** Default: success less half a percent for every turn. */
  readonly utility?: Utility;
  /** Trees kept beside the best. Default 4. */
  readonly archive?: number;
  /** Which tree goes on: the best, or the first proposal whatever it came to, which is a random walk. Default "best". */
  readonly keeps?: "best" | "proposal";
}

/** Where a search stands after a round. */
export interface Found extends Kept {
  readonly report: Report;
  readonly archive: readonly Kept[];
  /** Trees played in this round. */
  readonly played: number;
}

/**
 * One round of search over programs: the incumbent is played, rewritten from its report, and the best goes on.
 *
 *     T ← argmax over {T, proposals} of w · m(tree), all on the same seeds; a tie keeps T
 *
 * The incumbent is played again in every round, since an old lucky score would block progress. Proposals equal to the
 * incumbent are not played.
 * @param play the same episodes for whichever tree: same tasks, same luck.
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

/** The first of those with equal trees, without those that are known. */
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
