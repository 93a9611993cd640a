import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link retries}. */
export interface RetriesOptions {
  /** Which of the environment's named rewards to add up. Default: all. */
  readonly rewards?: readonly string[];
  /** γ, discount per earlier turn. Default 0.5. */
  readonly decay?: number;
  /** λ, penalty in the limit where every answer is a repetition. Default 0.5. */
  readonly penalty?: number;
  /** The answer of a turn, compared as text; undefined without one. Default: {@link plainAnswer}. */
  readonly answer?: (turn: Turn) => string | undefined;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * The reward of an episode of repeated tries: early right answers earn more, and repeated answers are penalised.
 *
 *     R = Σ_t γ^t Σ_names reward[t, name] − λ (1 − E/T)          t = 0, 1, …
 *
 * in the unit of the rewards, with T answers given, E of them different. One signal per trajectory, none for a failed one.
 * Turns without an answer count in t but not in T; without any answer, or with a right first answer, the penalty is 0.
 * Paper: "A Simple "Try Again" Can Elicit Multi-Turn LLM Reasoning".
 */
export function retries(options: RetriesOptions = {}): Feedback {
  const { rewards, decay = 0.5, penalty = 0.5, answer = plainAnswer, channel = "outcome" } = options;
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t) => {
        let value = -penalty * repeatedShare(t, answer);
        t.turns.forEach((turn, k) => {
          for (const [name, paid] of Object.entries(turn.rewards)) {
            if (rewards?.includes(name) ?? true) value += paid * decay ** k;
          }
        });
        return { kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" };
      });
}

/** The whole action in lower case without blanks; undefined if empty. */
export function plainAnswer({ action }: Turn): string | undefined {
  return action.content.toLowerCase().replace(/\s+/g, "") || undefined;
}

/** 1 − E/T: the share of a trajectory's answers that it had given before; 0 without answers. */
export function repeatedShare(
  { turns }: Trajectory,
  answer: (turn: Turn) => string | undefined = plainAnswer,
): number {
  const given = turns.flatMap((turn) => answer(turn) ?? []);
  return given.length === 0 ? 0 : 1 - new Set(given).size / given.length;
}
