/** Trees of episodes that begin alike: what a search knows of each situation, and where it goes next. */
import type { Trajectory } from "../core/types.ts";

/** A situation of a search, after the actions that lead to it. Episodes that pass it add to its numbers. */
export interface SearchNode {
  /** Turns from the start. */
  readonly depth: number;
  /** The action that leads here; "" at the start. */
  readonly action: string;
  /** p(action | situation before), by {@link priorOf}; 1 at the start. */
  readonly prior: number;
  /** The first episode that came here: its first `depth` turns lead to this situation. Undefined at the start. */
  readonly through: Trajectory | undefined;
  /** Children by their action, in order of first appearance. */
  readonly children: Map<string, SearchNode>;
  /** N: episodes that passed, and visits of an end that was chosen again. */
  visits: number;
  /** Sum of their returns. */
  total: number;
  /** Actions that were sampled here, equal ones counted each time. */
  sampled: number;
  /** The episode ends here. */
  ended: boolean;
}

/** How the search chooses among the children of a situation. */
export interface SelectionRule {
  /** "puct" weighs exploration by the policy's own probability, "uct" does not. */
  readonly kind: "puct" | "uct";
  /** c, in units of the return. 0 never explores. */
  readonly exploration: number;
}

/** A tree without episodes. */
export const newTree = (): SearchNode => nodeOf(0, "", 1, undefined);

const nodeOf = (
  depth: number,
  action: string,
  prior: number,
  through: Trajectory | undefined,
): SearchNode => ({
  ...{ depth, action, prior, through },
  ...{ children: new Map(), visits: 0, total: 0, sampled: 0, ended: false },
});

/** Q: the mean return of the episodes through a situation; 0 before the first. */
export const meanReturn = ({ total, visits }: SearchNode): number => (visits === 0 ? 0 : total / visits);

/**
 * Probability of an action with a correction for its length, so that long actions are not ruled out:
 *
 *     p = exp(Σ_t ln π(a_t) / len^1.25)
 *
 * 1 for a turn without tokens, or without known log-probabilities.
 * Paper: "Monte Carlo Tree Search Boosts Reasoning via Iterative Preference Learning".
 */
export function priorOf(logp: Float32Array | undefined): number {
  if (logp === undefined || logp.length === 0) return 1;
  const sum = logp.reduce((a, b) => a + b, 0);
  return Number.isNaN(sum) ? 1 : Math.exp(sum / logp.length ** 1.25);
}

/**
 * Adds an episode: every situation that it passed, its end included, gets a visit and its return.
 * @param sampledFrom turns that it took over from another episode, whose actions were chosen and not sampled. Equal actions
 *   lead to the same situation.
 */
export function addEpisode(root: SearchNode, t: Trajectory, value: number, sampledFrom = 0): void {
  let node = root;
  t.turns.forEach(({ action, tokens }, k) => {
    node.visits++;
    node.total += value;
    if (k >= sampledFrom) node.sampled++;
    const said = action.content.trim();
    const known = node.children.get(said);
    const next = known ?? nodeOf(k + 1, said, priorOf(tokens?.logp), t);
    if (!known) node.children.set(said, next);
    node = next;
  });
  node.visits++;
  node.total += value;
  node.ended = true;
}

/** Adds another visit of the last situation of a path, an end, with its own value. */
export function revisit(path: readonly SearchNode[]): void {
  const value = meanReturn(path.at(-1)!);
  for (const node of path) {
    node.visits++;
    node.total += value;
  }
}

/**
 * What selection maximises for a child a of a situation s:
 *
 *     "puct"   Q(s, a) + c · p(a | s) · √N(s) / (1 + N(s, a))
 *     "uct"    Q(s, a) + c · √(ln N(s) / N(s, a))
 */
export function urgency(parent: SearchNode, child: SearchNode, { kind, exploration }: SelectionRule): number {
  const bonus =
    kind === "puct"
      ? (child.prior * Math.sqrt(parent.visits)) / (1 + child.visits)
      : Math.sqrt(Math.log(Math.max(1, parent.visits)) / Math.max(1, child.visits));
  return meanReturn(child) + exploration * bonus;
}

/** The first child of the highest number; undefined without children. */
export function highest(node: SearchNode, of: (child: SearchNode) => number): SearchNode | undefined {
  let best: SearchNode | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const child of node.children.values()) {
    const number = of(child);
    if (number > most) [best, most] = [child, number];
  }
  return best;
}

/** The child of the highest Q. */
export const bestChild = (node: SearchNode): SearchNode | undefined => highest(node, meanReturn);

/**
 * The way down from a situation: the most urgent child, until a situation where fewer than `width` actions have been sampled,
 * or an end.
 * @param width of a situation at this depth.
 * @returns all situations of the way, the first one included.
 */
export function wayDown(
  from: SearchNode,
  rule: SelectionRule,
  width: (depth: number) => number,
): SearchNode[] {
  const way = [from];
  for (;;) {
    const node = way.at(-1)!;
    if (node.ended || node.sampled < width(node.depth)) return way;
    const next = highest(node, (child) => urgency(node, child, rule));
    if (!next) return way;
    way.push(next);
  }
}

/** The tree of some episodes of one task, by what each is worth; failed ones are left out. */
export function treeOfEpisodes(
  trajectories: readonly Trajectory[],
  worth: (t: Trajectory) => number,
): SearchNode {
  const root = newTree();
  for (const t of trajectories) if (t.end.kind !== "failed") addEpisode(root, t, worth(t));
  return root;
}
