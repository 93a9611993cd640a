/** A tree as an artefact: read, edited and versioned, and in force a policy that acts. */

import { writtenBy } from "../../common/artefacts/origins.ts";
import type { BehaviourTree } from "../../core/artefact.ts";
import type { ProgramPolicy } from "../../core/context.ts";
import { parseTree } from "./parse.ts";
import { treeProgram } from "./program.ts";
import { type Grammar, type Node, showTree } from "./tree.ts";

/** @param idle the skill of a turn for which the tree has none. */
export const treeArtefact = (
  tree: Node,
  { facts, skills }: Pick<Grammar, "facts" | "skills">,
  idle: string,
  origins = writtenBy("reflection"),
): BehaviourTree => ({ kind: "tree", tree: showTree(tree), facts, skills, idle, origins });

/**
 * The policy that it is. Size is no matter here: somebody may have edited it.
 * @throws WhetstoneError `config.invalid` for a tree that does not read as one; neural nodes cannot be in an artefact.
 */
export const programOf = ({ tree, facts, skills, idle }: BehaviourTree): ProgramPolicy =>
  treeProgram(parseTree(tree, { facts, skills, limits: { nodes: 1000, depth: 100 } }), { idle });
