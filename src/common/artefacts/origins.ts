/** Origins of artefact parts: merging them, and removing parts whose sources are erased. */
import type { Artefact, Origins } from "../../core/artefact.ts";
import type { Provenance } from "../../core/trainingExamples.ts";
import type { Id } from "../../core/types.ts";

const nothing: Provenance = { sessions: [], users: [], responses: [], signals: [] };

/** Origins of a text that was written without user data. @param by its author. */
export const writtenBy = (by: string): Origins => ({ by, from: nothing, trajectories: [] });

/** Origins of a part that was made from several others: each id once, in order of occurrence. */
export function joinedOrigins(by: string, of: readonly Origins[]): Origins {
  const all = (ids: (o: Origins) => readonly Id[]): readonly Id[] => [...new Set(of.flatMap(ids))];
  return {
    by,
    from: {
      sessions: all(({ from }) => from.sessions),
      users: all(({ from }) => from.users),
      responses: all(({ from }) => from.responses),
      signals: all(({ from }) => from.signals),
    },
    trajectories: all(({ trajectories }) => trajectories),
  };
}

/** The origins of every part of an artefact. */
export function originsIn(artefact: Artefact): readonly Origins[] {
  switch (artefact.kind) {
    case "instructions":
      return [artefact.origins, ...artefact.examples.map(({ origins }) => origins)];
    case "experience":
      return artefact.entries.map(({ origins }) => origins);
    case "cases":
      return artefact.cases.map(({ origins }) => origins);
    case "guide":
      return [];
    case "rubrics":
    case "tree":
      return [artefact.origins];
  }
}

/**
 * Removes the parts of an artefact that match. A text that was written from several sources cannot be split by source, so
 * the whole system text is removed, together with the tool descriptions.
 * @returns the artefact, and the number of removed parts.
 */
export function withoutParts<A extends Artefact>(
  artefact: A,
  goes: (origins: Origins) => boolean,
): { readonly artefact: A; readonly removed: number };
export function withoutParts(
  artefact: Artefact,
  goes: (origins: Origins) => boolean,
): { readonly artefact: Artefact; readonly removed: number } {
  const stay = <T extends { readonly origins: Origins }>(parts: readonly T[]): readonly T[] =>
    parts.filter(({ origins }) => !goes(origins));
  switch (artefact.kind) {
    case "instructions": {
      const examples = stay(artefact.examples);
      const text = goes(artefact.origins);
      const emptied = text ? { system: "", tools: {}, origins: writtenBy("erasure") } : {};
      const removed = artefact.examples.length - examples.length + Number(text);
      return { artefact: { ...artefact, ...emptied, examples }, removed };
    }
    case "experience": {
      const entries = stay(artefact.entries);
      return { artefact: { ...artefact, entries }, removed: artefact.entries.length - entries.length };
    }
    case "cases": {
      const cases = stay(artefact.cases);
      return { artefact: { ...artefact, cases }, removed: artefact.cases.length - cases.length };
    }
    case "guide":
      return { artefact, removed: 0 };
    case "rubrics": {
      if (!goes(artefact.origins)) return { artefact, removed: 0 };
      return {
        artefact: { ...artefact, rubrics: [], origins: writtenBy("erasure") },
        removed: artefact.rubrics.length,
      };
    }
    case "tree": {
      if (!goes(artefact.origins)) return { artefact, removed: 0 };
      return { artefact: { ...artefact, tree: "", origins: writtenBy("erasure") }, removed: 1 };
    }
  }
}
