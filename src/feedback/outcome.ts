import type { Feedback } from "../core/slots.ts";

/** Settings of {@link outcome}. */
export interface OutcomeOptions {
  /** Which of the environment's named rewards to add up. Default: all. */
  readonly rewards?: readonly string[];
  /** Outcome of a truncated episode: the sum of its rewards ("paid"), or 0 ("zero"). Default "paid". */
  readonly truncated?: "paid" | "zero";
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * The sum of the environment's rewards over the episode: one signal per trajectory, none for a failed one.
 *
 *     R = Σ_turns Σ_names reward[name]
 */
export function outcome({ rewards, truncated = "paid", channel = "outcome" }: OutcomeOptions = {}): Feedback {
  return async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t) => {
        let value = 0;
        for (const turn of t.turns) {
          for (const [name, paid] of Object.entries(turn.rewards)) {
            if (rewards?.includes(name) ?? true) value += paid;
          }
        }
        if (truncated === "zero" && t.end.kind === "truncated") value = 0;
        return { kind: "reward", channel, about: [{ trajectory: t.id }], value, source: "environment" };
      });
}
