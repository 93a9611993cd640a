/** Behaviour trees: policies that are small programs in text form. */

/**
 * A node. A tick of it ends in success, failure or running:
 * - selector: its children in order, up to the first that does not fail; failure where all fail.
 * - sequence: its children in order, up to the first that does not succeed; success where all succeed.
 * - condition: whether a fact of the situation holds; never running.
 * - action: executes a skill for one turn; its status is the one that the world reports.
 * - neural: an action whose skill is chosen by the function of that name, from the situation.
 */
export type Node =
  | { readonly kind: "selector" | "sequence"; readonly children: readonly Node[] }
  | { readonly kind: "condition"; readonly fact: string; readonly holds: boolean }
  | { readonly kind: "action"; readonly skill: string }
  | { readonly kind: "neural"; readonly name: string };

export type Leaf = Extract<Node, { readonly kind: "action" | "neural" }>;

/** The names that a tree of a world may use, and its size limits. */
export interface Grammar {
  readonly facts: readonly string[];
  readonly skills: readonly string[];
  /** Names of neural nodes. Default: none. */
  readonly neural?: readonly string[];
  readonly limits?: TreeLimits;
}
export interface TreeLimits {
  /** Default 25. */
  readonly nodes?: number;
  /** Largest number of nodes on a path from the root to a leaf. Default 6. */
  readonly depth?: number;
}

/** Status of a skill, as the world reports it. */
export type Status = "success" | "failure" | "running";

/** Input of a tree before a turn. */
export interface Situation {
  readonly facts: ReadonlySet<string>;
  /** Status of the previous turn's skill; absent before the first turn. */
  readonly last?: Status;
}

/**
 * The text of a tree: one node per line, children indented by two blanks. `parseTree` reads it back.
 * @example
 * selector
 *   sequence
 *     if thief-beside
 *     do grab
 *   do search
 */
export const showTree = (tree: Node): string => linesOf(tree).join("\n");

function linesOf(node: Node): readonly string[] {
  switch (node.kind) {
    case "selector":
    case "sequence":
      return [node.kind, ...node.children.flatMap(linesOf).map((line) => `  ${line}`)];
    case "condition":
      return [node.holds ? `if ${node.fact}` : `if not ${node.fact}`];
    case "action":
      return [`do ${node.skill}`];
    case "neural":
      return [`neural ${node.name}`];
  }
}

/** Number of nodes of a tree, including the root. */
export const treeSize = (node: Node): number =>
  "children" in node ? node.children.reduce((sum, child) => sum + treeSize(child), 1) : 1;
