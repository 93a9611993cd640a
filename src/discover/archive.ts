/** The archive of candidates: which to begin from next, and what became of them. */
import type { Random } from "../core/random.ts";

/** A candidate with a score. */
export interface Node {
  readonly id: number;
  /** The candidate that it was made from; null for one that the search began from. */
  readonly parent: number | null;
  readonly candidate: string;
  readonly score: number;
  /** The largest score among its direct children; null before it has one. */
  readonly bestChild: number | null;
  /** Candidates that were made from it or its descendants. */
  readonly visits: number;
  /** Number of candidates that had been scored when it was found. */
  readonly at: number;
}

/** Plain data, checkpointed with the run. */
export interface Archive {
  readonly nodes: readonly Node[];
  /** The id of the next node. */
  readonly next: number;
  /** Candidates scored so far, those without a score included. */
  readonly evaluations: number;
  /** Of these, those that were made and had a score. */
  readonly valid: number;
  /** Every score that was the best so far, and the number of candidates scored by then. */
  readonly bests: readonly { readonly at: number; readonly score: number }[];
}

/** What became of a start: a candidate with its score, or neither. */
export interface Made {
  readonly from: number;
  readonly candidate: string | undefined;
  readonly score: number | undefined;
}

/** How the next starts are chosen. */
export type Strategy = "puct" | "evolution" | "restart";

/** Starts of evolution compete in groups of this size. */
const tournament = 3;
/** Survivors of evolution, and candidates that others keep beside the starts. */
const kept = { evolution: 50, other: 1000 } as const;
/** Children of one start that one iteration adds to a searched tree. */
const childrenKept = 2;

export const emptyArchive: Archive = { nodes: [], next: 0, evaluations: 0, valid: 0, bests: [] };

/** The candidate with the largest score, the first of equals. */
export const bestOf = ({ nodes }: Archive): Node | undefined =>
  nodes.reduce<Node | undefined>((best, node) => (best && best.score >= node.score ? best : node), undefined);

/** The nodes from a start to one of its descendants. */
export function lineageOf({ nodes }: Archive, { id }: Pick<Node, "id">): readonly Node[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const line: Node[] = [];
  for (let node = byId.get(id); node; node = node.parent === null ? undefined : byId.get(node.parent))
    line.unshift(node);
  return line;
}

/** Adds the candidates that a search begins from. */
export function begun(starts: readonly { readonly candidate: string; readonly score: number }[]): Archive {
  const nodes = starts.map(
    ({ candidate, score }, id): Node => ({
      id,
      parent: null,
      candidate,
      score,
      bestChild: null,
      visits: 0,
      at: id + 1,
    }),
  );
  return { nodes, next: nodes.length, evaluations: nodes.length, valid: 0, bests: improvements([], nodes) };
}

/**
 * Ids of the starts of an iteration, at most `count`.
 *
 * - puct: by the largest of
 *       Q + scale · P · √(1 + T/G) / (1 + n/G)
 *   Q: the best direct child's score, or its own before it has one; P: (N − rank)/Σ, rank 0 the best; scale: the range of scores
 *   among what was found; T: all visits; n: its visits; G: `group`. None is an ancestor or descendant of another.
 * - evolution: winners of tournaments of three; one may win more than once.
 * - restart: those that the search began from, in turn.
 *
 * Paper of the first: "Learning to Discover at Test Time".
 * @param group candidates that will be made from each.
 */
export function startsOf(
  archive: Archive,
  strategy: Strategy,
  { count, group }: { readonly count: number; readonly group: number },
  random: Random,
): readonly number[] {
  const { nodes } = archive;
  if (strategy === "puct") return byPuct(nodes, count, group);
  if (strategy === "evolution") {
    return Array.from({ length: count }, () => {
      const drawn = Array.from({ length: tournament }, () => nodes[random.below(nodes.length)]!);
      return drawn.reduce((a, b) => (b.score > a.score ? b : a)).id;
    });
  }
  const roots = nodes.filter(({ parent }) => parent === null);
  return roots.slice(0, count).map(({ id }) => id);
}

function byPuct(nodes: readonly Node[], count: number, group: number): readonly number[] {
  const found = nodes.filter(({ parent }) => parent !== null).map(({ score }) => score);
  const range = found.length === 0 ? 0 : Math.max(...found) - Math.min(...found);
  // where all scores are equal, visits alone tell candidates apart
  const scale = range > 0 ? range : 1;
  const total = nodes.reduce((sum, { parent, visits }) => sum + (parent === null ? visits : 0), 0);
  const ranked = [...nodes].sort((a, b) => b.score - a.score || a.id - b.id);
  const sum = (nodes.length * (nodes.length + 1)) / 2;
  const scored = ranked.map((node, rank) => {
    const prior = (nodes.length - rank) / sum;
    const bonus = (scale * prior * Math.sqrt(1 + total / group)) / (1 + node.visits / group);
    return { node, value: (node.bestChild ?? node.score) + bonus };
  });
  // of equals the better candidate itself: its ancestor has its score as that of its best child
  scored.sort((a, b) => b.value - a.value || b.node.score - a.node.score || a.node.id - b.node.id);
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]));
  const blocked = new Set<number>();
  const above = (id: number): number[] => {
    const line: number[] = [];
    for (let at = parents.get(id) ?? null; at !== null; at = parents.get(at) ?? null) line.push(at);
    return line;
  };
  const chosen: number[] = [];
  for (const { node } of scored) {
    if (chosen.length >= count) break;
    const line = above(node.id);
    if (blocked.has(node.id) || line.some((id) => chosen.includes(id))) continue;
    chosen.push(node.id);
    for (const id of line) blocked.add(id);
  }
  return chosen;
}

/**
 * The archive after an iteration: visits are counted, also of candidates without a score, so that a start that breaks them is not
 * tried for ever; of the others the best new ones stay.
 */
export function withMade(archive: Archive, made: readonly Made[], strategy: Strategy): Archive {
  const nodes = new Map(archive.nodes.map((node) => [node.id, node]));
  const change = (id: number, more: (node: Node) => Partial<Node>): void => {
    const node = nodes.get(id);
    if (node) nodes.set(id, { ...node, ...more(node) });
  };
  let { next, evaluations, valid } = archive;
  const known = new Set(archive.nodes.map(({ candidate }) => candidate));
  const candidates: Node[] = [];
  for (const { from, candidate, score } of made) {
    evaluations++;
    for (let id: number | null = from; id !== null; id = nodes.get(id)?.parent ?? null)
      change(id, ({ visits }) => ({ visits: visits + 1 }));
    if (candidate === undefined || score === undefined) continue;
    valid++;
    change(from, ({ bestChild }) => ({ bestChild: Math.max(bestChild ?? score, score) }));
    if (known.has(candidate)) continue;
    known.add(candidate);
    candidates.push({
      id: next++,
      parent: from,
      candidate,
      score,
      bestChild: null,
      visits: 0,
      at: evaluations,
    });
  }
  const most = strategy === "evolution" ? Number.POSITIVE_INFINITY : childrenKept;
  for (const children of Map.groupBy(candidates, ({ parent }) => parent).values()) {
    for (const child of children.toSorted((a, b) => b.score - a.score || a.id - b.id).slice(0, most))
      nodes.set(child.id, child);
  }
  const bests = improvements(archive.bests, candidates);
  return { nodes: survivors([...nodes.values()], strategy), next, evaluations, valid, bests };
}

function improvements(before: Archive["bests"], found: readonly Node[]): Archive["bests"] {
  const bests = [...before];
  for (const { at, score } of found) {
    if (score > (bests.at(-1)?.score ?? Number.NEGATIVE_INFINITY)) bests.push({ at, score });
  }
  return bests;
}

/** The best, those that the search began from, and the ancestors of either, so that every lineage is whole. */
function survivors(nodes: readonly Node[], strategy: Strategy): readonly Node[] {
  const most = strategy === "evolution" ? kept.evolution : kept.other;
  if (nodes.length <= most) return nodes;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ranked = [...nodes].sort((a, b) => b.score - a.score || a.id - b.id);
  const stay = new Set(nodes.filter(({ parent }) => parent === null).map(({ id }) => id));
  for (const { id } of ranked.slice(0, most)) {
    for (let at: number | null = id; at !== null && !stay.has(at); at = byId.get(at)?.parent ?? null)
      stay.add(at);
  }
  return nodes.filter(({ id }) => stay.has(id));
}
