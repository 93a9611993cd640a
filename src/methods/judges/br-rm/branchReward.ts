import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";

/** Criteria to choose from. */
export const usualCriteria = [
  "accuracy",
  "reasoning",
  "safety",
  "instructions",
  "relevance",
  "completeness",
  "clarity",
  "tone",
  "length",
] as const;

/** Settings of {@link branchReward}. */
export interface BranchRewardOptions {
  /** Default {@link usualCriteria}. */
  readonly criteria?: readonly string[];
  /** Most criteria of a judgement. Default 3. */
  readonly most?: number;
  /** Reward of a judgement that breaks the form; below that of a wrong verdict, or breaking it is a way out. Default −1. */
  readonly malformed?: number;
}

/** Whether a first turn names 1 to `most` of the criteria, each once, and nothing else. Commas and line breaks are spaces. */
export function namesCriteria(text: string, criteria: readonly string[], most: number): boolean {
  const named = text.split(/[\s,]+/).filter((word) => word !== "");
  const known = named.every((word) => criteria.includes(word));
  return known && named.length >= 1 && named.length <= most && new Set(named).size === named.length;
}

/**
 * The reward of a judgement in two turns, about its second one; its unit gives it to both:
 *
 *     R = 1 for a right verdict, 0 for a wrong one, −1 where the first turn is no list of criteria or the second one ends without a verdict
 *
 * A judgement whose criteria were given has no first turn to break. On channel "outcome". Paper: "Think Twice: Branch-and-Rethink
 * Reasoning Reward Model".
 */
export function branchReward(options: BranchRewardOptions = {}): Feedback {
  const { criteria = usualCriteria, most = 3, malformed = -1 } = options;
  const said = (t: Trajectory | undefined): string => t?.turns.at(-1)?.action.content ?? "";
  return async (_ctx, { trajectories, units }) => {
    const byId = new Map(trajectories.map((t) => [t.id, t]));
    return units.flatMap(({ members }): Signal[] => {
      const [first, second] = members.map((id) => byId.get(id));
      const last = second ?? first;
      if (!last) return [];
      const formed =
        last.end.kind === "done" && (second === undefined || namesCriteria(said(first), criteria, most));
      const value = formed ? Number(succeeded(last)) : malformed;
      return [
        { kind: "reward", channel: "outcome", about: [{ trajectory: last.id }], value, source: "verdict" },
      ];
    });
  };
}
