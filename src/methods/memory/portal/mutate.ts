import { isWhetstoneError } from "../../../core/errors.ts";
import type { Random } from "../../../core/random.ts";
import { parseTree } from "../../../memory/behaviourTree/parse.ts";
import type { Failing, Report } from "../../../memory/behaviourTree/report.ts";
import type { Rewriter } from "../../../memory/behaviourTree/search.ts";
import { type Grammar, type Node, showTree } from "../../../memory/behaviourTree/tree.ts";

/** Settings of {@link mutator}. */
export interface MutatorOptions {
  /** Share of the edits that target failures in the report, if it has any. 0 ignores the report. Default 0.6. */
  readonly mends?: number;
  /** Largest number of edits at once. Default 2. */
  readonly edits?: number;
}

/**
 * A stochastic grammar in place of a language model: each proposal is the tree after one or a few edits. A random edit
 * inserts, removes, replaces, swaps or guards a node. A repair picks a failing skill, in proportion to its failures, and
 * adds an alternative for when the missing fact does not hold. An invalid tree is drawn again, up to 20 times; then the
 * tree stays unchanged.
 */
export function mutator({ mends = 0.6, edits = 2 }: MutatorOptions = {}): Rewriter {
  return async ({ tree, report, grammar, count, random }) =>
    Array.from({ length: count }, (_, i) => {
      const own = random.split("proposal", i);
      for (let tried = 0; tried < 20; tried++) {
        const luck = own.split("try", tried);
        let edited = tree;
        const wanted = 1 + luck.below(edits);
        for (let e = 0; e < wanted; e++)
          edited = mutated(edited, report, grammar, mends, luck.split("edit", e));
        if (allowed(edited, grammar)) return edited;
      }
      return tree;
    });
}

function mutated(tree: Node, report: Report, grammar: Grammar, mends: number, random: Random): Node {
  const failing = random.next() < mends ? drawn(report.failings, random) : undefined;
  return (failing && mended(tree, failing, grammar, random)) ?? edited(tree, grammar, random);
}

/** If the missing fact does not hold, an alternative replaces the skill. */
function mended(tree: Node, failing: Failing, grammar: Grammar, random: Random): Node | undefined {
  const places = placesOf(tree).filter(({ node }) => node.kind === "action" && node.skill === failing.skill);
  const place = places[random.below(places.length)];
  if (!place) return undefined;
  const negated = failing.lacks.startsWith("not ");
  const fact = failing.lacks.replace(/^not /, "");
  const holds: Node = { kind: "condition", fact, holds: !negated };
  const instead: Node = {
    kind: "sequence",
    children: [{ ...holds, holds: negated }, actionOf(grammar, random)],
  };
  const guarded: Node = { kind: "sequence", children: [holds, place.node] };
  const now: Node = random.below(2) === 0 ? { kind: "selector", children: [instead, place.node] } : guarded;
  return put(tree, place.path, now);
}

/** A random edit that ignores the report. */
function edited(tree: Node, grammar: Grammar, random: Random): Node {
  const places = placesOf(tree);
  const place = places[random.below(places.length)]!;
  const { node, path } = place;
  const guarded: Node = {
    kind: "sequence",
    children: [conditionOf(grammar, random), actionOf(grammar, random)],
  };
  switch (random.below(5)) {
    case 0: {
      const beside: Node = random.below(2) === 0 ? guarded : leafOf(grammar, random);
      if (!("children" in node)) {
        const both = random.below(2) === 0 ? [beside, node] : [node, beside];
        return put(tree, path, { kind: random.below(2) === 0 ? "selector" : "sequence", children: both });
      }
      const at = random.below(node.children.length + 1);
      return put(tree, path, { ...node, children: node.children.toSpliced(at, 0, beside) });
    }
    case 1: {
      if (!("children" in node) || node.children.length < 2) return tree;
      return put(tree, path, {
        ...node,
        children: node.children.toSpliced(random.below(node.children.length), 1),
      });
    }
    case 2: {
      if (node.kind === "condition") return put(tree, path, conditionOf(grammar, random));
      if (!("children" in node)) return put(tree, path, actionOf(grammar, random));
      return put(tree, path, { ...node, kind: node.kind === "selector" ? "sequence" : "selector" });
    }
    case 3: {
      if (!("children" in node) || node.children.length < 2) return tree;
      const at = random.below(node.children.length - 1);
      const [a, b] = [node.children[at]!, node.children[at + 1]!];
      return put(tree, path, { ...node, children: node.children.toSpliced(at, 2, b, a) });
    }
    default:
      return put(tree, path, { kind: "sequence", children: [conditionOf(grammar, random), node] });
  }
}

interface Place {
  /** Which child, from the root on. */
  readonly path: readonly number[];
  readonly node: Node;
}

/** Every node with its path, parents first. */
function placesOf(node: Node, path: readonly number[] = []): readonly Place[] {
  const below = "children" in node ? node.children.flatMap((child, i) => placesOf(child, [...path, i])) : [];
  return [{ path, node }, ...below];
}

/** The tree with the node at a path replaced. */
function put(tree: Node, [first, ...rest]: readonly number[], node: Node): Node {
  if (first === undefined || !("children" in tree)) return node;
  return {
    ...tree,
    children: tree.children.map((child, i) => (i === first ? put(child, rest, node) : child)),
  };
}

const actionOf = ({ skills }: Grammar, random: Random): Node => ({
  kind: "action",
  skill: skills[random.below(skills.length)]!,
});
const conditionOf = ({ facts }: Grammar, random: Random): Node => ({
  kind: "condition",
  fact: facts[random.below(facts.length)]!,
  holds: random.below(2) === 0,
});
const leafOf = (grammar: Grammar, random: Random): Node =>
  random.below(2) === 0 ? conditionOf(grammar, random) : actionOf(grammar, random);

/** Draws a skill in proportion to its number of failures. */
function drawn(failings: readonly Failing[], random: Random): Failing | undefined {
  let left = random.next() * failings.reduce((sum, { times }) => sum + times, 0);
  return failings.find(({ times }) => (left -= times) < 0);
}

function allowed(tree: Node, grammar: Grammar): boolean {
  try {
    parseTree(showTree(tree), grammar);
    return true;
  } catch (e) {
    if (isWhetstoneError(e)) return false;
    throw e;
  }
}
