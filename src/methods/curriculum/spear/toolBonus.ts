import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory, Turn } from "../../../core/types.ts";
import { falling } from "./schedules.ts";

/** Settings of {@link toolBonus}. */
export interface ToolBonusOptions {
  /** Bonus of a call at the start; all calls of an episode earn at most 1. Default 0.1. */
  readonly perCall?: number;
  /** Iterations over which the bonus falls to 0; 0 keeps it for ever. Default 200. */
  readonly over?: number;
}

/** Whether a turn calls a tool: it has calls, a part that is named so, or begins with the word "call". */
export const isCall = ({ action, spans }: Turn): boolean =>
  (action.toolCalls?.length ?? 0) > 0 ||
  (spans.call?.length ?? 0) > 0 ||
  action.content.trim().split(/\s+/)[0] === "call";

/** Number of turns that call a tool. */
export const callsOf = (t: Trajectory): number => t.turns.filter(isCall).length;

/** Channel of the bonus, apart from the outcome. */
export const bonusChannel = "bonus";

/**
 * A bonus for turns that call a tool, which fades:
 *
 *     b = min(0.1 · calls, 1) · μ(s),   μ(s) = (cos(π s / S) + 1) / 2 for s ≤ S, else 0        s: iteration
 *
 * Replayed and failed episodes get none.
 * Paper: "Learn the Ropes, Then Trust the Wins: Self-imitation with Progressive Exploration for Agentic Reinforcement Learning".
 */
export function toolBonus({ perCall = 0.1, over = 200 }: ToolBonusOptions = {}): Feedback {
  return async ({ clock }, { trajectories }) => {
    const weight = over === 0 ? 1 : falling(clock.iteration, over);
    if (weight === 0) return [];
    return trajectories
      .filter((t) => t.origin === "sampled" && t.end.kind !== "failed")
      .map((t) => ({
        kind: "reward",
        channel: bonusChannel,
        about: [{ trajectory: t.id }],
        value: Math.min(perCall * callsOf(t), 1) * weight,
        source: "tool bonus",
      }));
  };
}
