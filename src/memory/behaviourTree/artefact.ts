/** Behaviour trees as artefacts: editable, versioned, and runnable as policies. */

import { writtenBy } from "../../common/artefacts/origins.ts";
import type { BehaviourTree } from "../../core/artefact.ts";
import type { ProgramPolicy } from "../../core/context.ts";
import { parseTree } from "./parse.ts";
import { treeProgram } from "./program.ts";
import { type Grammar, type Node, showTree } from "./tree.ts";

/** @param idle the skill of a turn for which the tree selects none. */
export const treeArtefact = (
  tree: Node,
  { facts, skills }: Pick<Grammar, "facts" | "skills">,
  idle: string,
  origins = writtenBy("reflection"),
): BehaviourTree => ({ kind: "tree", tree: showTree(tree), facts, skills, idle, origins });

/**
 * The policy of a tree artefact. The size limits do not apply, since a person may have edited the tree.
 * @throws WhetstoneError `config.invalid` for a tree that cannot be parsed; neural nodes cannot be in an artefact.
 */
export const programOf = ({ tree, facts, skills, idle }: BehaviourTree): ProgramPolicy =>
  treeProgram(parseTree(tree, { facts, skills, limits: { nodes: 1000, depth: 100 } }), { idle });
