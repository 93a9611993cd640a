import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** Settings of {@link overlong}. */
export interface OverlongOptions {
  /** Longest sequence, in tokens. Default: that of the model that acted. */
  readonly limit?: number;
  /** Tokens before the limit over which the penalty grows from 0 to 1. Default: a fifth of the limit. */
  readonly buffer?: number;
  /** Default "length". */
  readonly channel?: string;
}

/**
 * Soft overlong punishment: a sequence near the limit gets a penalty that grows to 1 at the limit, so that truncated
 * episodes and wrong answers get different rewards.
 *
 *     value = −clamp((length − (limit − buffer)) / buffer, 0, 1)          length: tokens of the whole sequence, at its end
 *
 * Trajectories without a penalty get no signal; nor do failed ones.
 * Paper: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale" (there over the length of one response).
 */
export function overlong({ limit, buffer, channel = "length" }: OverlongOptions = {}): Feedback {
  return async (ctx, { trajectories }) =>
    trajectories.flatMap((t) => {
      if (t.end.kind === "failed" || t.turns.length === 0) return [];
      const most = limit ?? ctx.model(t.turns[0]!.model).contextTokens;
      const soft = buffer ?? most / 5;
      const share = (lengthOf(t) - (most - soft)) / soft;
      if (share <= 0) return [];
      const value = -Math.min(1, share);
      return [{ kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "length" }];
    });
}

/** Length of the longest turn: its prompt holds everything before it. An episode truncated by tokens counts as infinitely long. */
function lengthOf(t: Trajectory): number {
  if (t.end.kind === "truncated" && t.end.limit === "tokens") return Number.POSITIVE_INFINITY;
  return Math.max(
    0,
    ...t.turns.map(({ tokens }) => (tokens ? tokens.prompt.length + tokens.action.length : 0)),
  );
}
