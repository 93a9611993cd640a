/** A search tree over the turns of attempts at one task. */
import { succeeded, type Trajectory } from "../../../core/types.ts";

/** A node: an attempt up to a turn. The root is the attempt without any. */
export interface Node {
  readonly parent: Node | undefined;
  /** Turns made; 0 for the root. */
  readonly depth: number;
  /** Undefined for the root. */
  readonly attempt: Trajectory | undefined;
  /** Whether no turn can follow. */
  readonly isLeaf: boolean;
  /** Mean −ln p of the tokens of its turn, in nats. */
  readonly surprise: number;
  children: readonly Node[];
  /** Whether its next turns were played, even if none could be. */
  isExpanded: boolean;
  /** N. */
  visits: number;
  /** W, the accumulated verdicts. */
  value: number;
}

export const rootNode = (): Node => ({
  parent: undefined,
  depth: 0,
  attempt: undefined,
  isLeaf: false,
  surprise: 0,
  children: [],
  isExpanded: false,
  visits: 0,
  value: 0,
});

/** The node of an attempt's last turn. @param most turns after which an attempt counts as incomplete. */
export function childOf(parent: Node, attempt: Trajectory, most: number): Node {
  const depth = attempt.turns.length;
  const cut = attempt.end.kind === "truncated" && attempt.end.limit === "turns";
  const logp = attempt.turns.at(-1)?.tokens?.logp ?? new Float32Array();
  return {
    parent,
    depth,
    attempt,
    isLeaf: !cut || depth >= most,
    surprise: logp.reduce((sum, x) => sum - x, 0) / Math.max(1, logp.length),
    children: [],
    isExpanded: false,
    visits: 0,
    value: 0,
  };
}

/** 1 where the attempt succeeded, else −1, also where it was cut. */
export const verdictOf = (t: Trajectory): number => (succeeded(t) ? 1 : -1);

/** Q: mean value; 0 before a visit. */
const quality = ({ value, visits }: Node): number => (visits === 0 ? 0 : value / visits);

/** The nodes from the root to this one. */
export function pathTo(node: Node): Node[] {
  const path: Node[] = [];
  for (let at: Node | undefined = node; at; at = at.parent) path.unshift(at);
  return path;
}

/**
 * Of new leaves, the one whose verdict is backed up: a right one if there is any, else the least surprising. The others are
 * dropped.
 */
export const chosenLeaf = (leaves: readonly Node[]): Node | undefined =>
  leaves.toSorted((a, b) => verdictOf(b.attempt!) - verdictOf(a.attempt!) || a.surprise - b.surprise)[0];

/**
 * Backs a verdict up from a leaf to the root, by depth i of l = leaf depth + 1:
 *
 *     N += 1;   g = max((i + 1)/l, 0.1)
 *     W ← W + g v   where W v ≥ 0;     W ← g v   where W < 0 < v;     W stays where v < 0 < W
 *
 * So a wrong attempt does not erase what a right one has said of a turn that both share.
 * Paper: "DeepSearch".
 */
export function backUp(leaf: Node, verdict: number): void {
  const length = leaf.depth + 1;
  for (const node of pathTo(leaf)) {
    node.visits++;
    const share = Math.max((node.depth + 1) / length, 0.1);
    if (node.value * verdict >= 0) node.value += share * verdict;
    else if (verdict > 0) node.value = share * verdict;
  }
}

/** The child to go down to: argmax Q(c) + λ √(ln N(parent) / N(c)), without the bonus before a visit; the first of equals. */
export function descended(node: Node, exploration: number): Node | undefined {
  const score = (child: Node): number =>
    quality(child) +
    (child.visits === 0 || node.visits === 0
      ? 0
      : exploration * Math.sqrt(Math.log(node.visits) / child.visits));
  return largest(
    node.children.filter(({ isLeaf }) => !isLeaf),
    score,
  );
}

/** The unexpanded node of the whole tree to go on from: argmax l₁ tanh Q(parent) + l₂ H(c) + l₃ √(depth / most). */
export function frontierOf(
  root: Node,
  { entropy, depth }: { readonly entropy: number; readonly depth: number },
): Node | undefined {
  const score = (node: Node): number =>
    0.4 * Math.tanh(quality(node.parent!)) + entropy * node.surprise + 0.01 * Math.sqrt(node.depth / depth);
  return largest(
    below(root).filter(({ isLeaf, isExpanded }) => !isLeaf && !isExpanded),
    score,
  );
}

const below = (node: Node): Node[] => node.children.flatMap((child) => [child, ...below(child)]);

const largest = (nodes: readonly Node[], score: (node: Node) => number): Node | undefined =>
  nodes.reduce<Node | undefined>(
    (best, node) => (best && score(best) >= score(node) ? best : node),
    undefined,
  );

/**
 * The advantage of each turn of each leaf, once the search is over: q(node) − mean of q over the leaves, where q is W at a leaf and
 * tanh W inside. Of a single leaf, the mean counts as 0.
 */
export function creditsOf(leaves: readonly Node[]): readonly (readonly number[])[] {
  const mean = leaves.length < 2 ? 0 : leaves.reduce((sum, { value }) => sum + value / leaves.length, 0);
  return leaves.map((leaf) =>
    pathTo(leaf)
      .slice(1)
      .map((node) => (node === leaf ? node.value : Math.tanh(node.value)) - mean),
  );
}
