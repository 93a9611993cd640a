/** Behaviour trees: policies that are programs, small enough to be read, written and changed as text. */

/**
 * A node. A tick of it ends in success, failure or running:
 * - selector: its children in order, up to the first that does not fail; failure where all fail.
 * - sequence: its children in order, up to the first that does not succeed; success where all succeed.
 * - condition: whether a fact of the situation holds; never running.
 * - action: does a skill for one turn, and ends as the world says the skill went.
 * - neural: an action whose skill is chosen by a function of the situation that goes by this name.
 */
export type Node =
  | { readonly kind: "selector" | "sequence"; readonly children: readonly Node[] }
  | { readonly kind: "condition"; readonly fact: string; readonly holds: boolean }
  | { readonly kind: "action"; readonly skill: string }
  | { readonly kind: "neural"; readonly name: string };

export type Leaf = Extract<Node, { readonly kind: "action" | "neural" }>;

/** What a tree of some world may name, and how large it may get. */
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
  /** Nodes on the longest way from the root to a leaf. Default 6. */
  readonly depth?: number;
}

/** How the world says that a skill went. */
export type Status = "success" | "failure" | "running";

/** What a tree sees before a turn. */
export interface Situation {
  readonly facts: ReadonlySet<string>;
  /** How the skill of the turn before went; absent before the first one. */
  readonly last?: Status;
}

/**
 * The text of a tree: a node a line, children two blanks further in than their parent. `parseTree` reads it again.
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

/** Nodes of a tree, itself among them. */
export const treeSize = (node: Node): number =>
  "children" in node ? node.children.reduce((sum, child) => sum + treeSize(child), 1) : 1;
