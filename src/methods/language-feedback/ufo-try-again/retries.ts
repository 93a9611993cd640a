import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory, Turn } from "../../../core/types.ts";

/** Settings of {@link retries}. */
export interface RetriesOptions {
  /** Which of the environment's named rewards to add up. Default: all. */
  readonly rewards?: readonly string[];
  /** γ, what a reward is multiplied by for each turn that went before. Default 0.5. */
  readonly decay?: number;
  /** λ, what is paid where nearly every answer was a repetition. Default 0.5. */
  readonly penalty?: number;
  /** The answer that a turn gave, equal texts being equal answers; undefined where it gave none. Default: {@link plainAnswer}. */
  readonly answer?: (turn: Turn) => string | undefined;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * What an episode of repeated tries is worth: right early is worth more, and an answer given twice costs.
 *
 *     R = Σ_t γ^t Σ_names reward[t, name] − λ (1 − E/T)          t = 0, 1, …
 *
 * in the unit of the rewards, with T answers given, E of them different. One signal for each trajectory, none for a
 * failed one. Turns that gave no answer count as time but not in T; without any answer the penalty is 0, as it is after
 * a first answer that was right.
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

/** The whole action in lower case without blanks; none where nothing is left. */
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
