import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { paid, type Trajectory } from "../../../core/types.ts";
import {
  bestChild,
  highest,
  meanReturn,
  type SearchNode,
  treeOfEpisodes,
} from "../../../rollout/searchTree.ts";

/** A preference for one action over another in the same situation. */
export interface StepPair {
  readonly chosen: SearchNode;
  readonly rejected: SearchNode;
  /** 1 − α, the probability with which the label is trusted. */
  readonly strength: number;
}

/**
 * The pairs of a tree, on the way that follows the best child from the start to an end: at each situation the child of the
 * highest Q against that of the lowest.
 *
 *     w = argmax_a Q(s, a),   l = argmin_a Q(s, a),   where Q(w) − Q(l) > 0
 *     α = 1 / (N(w) / N(l) + 1),   strength = 1 − α = N(w) / (N(w) + N(l))
 *
 * A situation with a single child, or with children of equal Q, gives no pair. Without smoothing the strength is 1.
 */
export function stepPairsOf(root: SearchNode, smoothing: boolean): StepPair[] {
  const pairs: StepPair[] = [];
  for (let node: SearchNode | undefined = root; node && !node.ended; node = bestChild(node)) {
    const chosen = bestChild(node);
    const rejected = highest(node, (child) => -meanReturn(child));
    if (!chosen || !rejected || meanReturn(chosen) - meanReturn(rejected) <= 1e-9) continue;
    const share = chosen.visits / (chosen.visits + rejected.visits);
    pairs.push({ chosen, rejected, strength: smoothing ? share : 1 });
  }
  return pairs;
}

/**
 * Preferences between single actions from the tree of a task's episodes, one signal for each pair of {@link stepPairsOf}. Both
 * sides share all before the action: the loss begins where they part. Q is the mean return of the episodes through an action, so
 * the earlier steps' share of the return cancels in the difference.
 * Paper: "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning".
 */
export function stepPairs({ smoothing }: { readonly smoothing: boolean }): Feedback {
  return async (_ctx, { trajectories }) =>
    [...Map.groupBy(trajectories, (t) => t.task).values()].flatMap((episodes) =>
      stepPairsOf(treeOfEpisodes(episodes, paid), smoothing).map(
        ({ chosen, rejected, strength }): Signal => ({
          kind: "preference",
          channel: "step",
          about: [at(chosen), at(rejected)],
          best: 0,
          value: strength,
          source: "tree search",
        }),
      ),
    );
}

const at = ({ through, depth }: SearchNode) => ({
  trajectory: (through as Trajectory).id,
  turn: depth - 1,
});
