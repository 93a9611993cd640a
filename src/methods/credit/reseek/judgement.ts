import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory, type Turn } from "../../../core/types.ts";

/** Settings of {@link judgement}. */
export interface JudgementOptions {
  /** Reward for a correct judgement of yes; a correct no gets a fifth of it. Default 0.1. */
  readonly reward?: number;
  /** Penalty for a wrong judgement. Default 0.05. */
  readonly penalty?: number;
  /**
   * Whether a yes is correct when the episode succeeds ("outcome"), or when the judged observation was useful
   * ("usefulness"). Under "outcome", a yes to a useful observation in a failed episode costs half. Default "outcome".
   */
  readonly yes?: "outcome" | "usefulness";
  /** The judgement of a turn; undefined without one. Default: an action that says yes or no. */
  readonly answer?: (turn: Turn) => boolean | undefined;
  /** Usefulness of the judged observation for the right answer, in [0, 1]. Default: the environment's reward "relevance". */
  readonly relevance?: (turn: Turn) => number | undefined;
  /** Default "judge". */
  readonly channel?: string;
}

/**
 * Rewards the policy's judgements on its observations: one signal for each turn with a judgement.
 *
 *     yes, right in the end:   + reward                      no, not useful:   + reward / 5
 *     yes, wrong, useful:      − penalty / 2                 no, useful:       − penalty
 *     yes, wrong, not useful:  − penalty                     useful: relevance ≥ ½
 *
 * Relevance is measured against the answer, which the policy must not see. An episode that did not end by itself gets no
 * signal, and neither does a judgement of unknown relevance. The sum grows with the number of judgements, so the environment
 * must limit that number.
 * Paper: "ReSeek: A Self-Correcting Framework for Search Agents with Instructive Rewards".
 */
export function judgement(options: JudgementOptions = {}): Feedback {
  const { channel = "judge", answer = said, relevance = (turn) => turn.rewards.relevance } = options;
  return async (_ctx, { trajectories }) =>
    trajectories.flatMap((t) =>
      t.turns.flatMap((turn, k): readonly Signal[] => {
        const yes = answer(turn);
        const relevant = relevance(turn);
        if (t.end.kind !== "done" || yes === undefined || relevant === undefined) return [];
        const value = worth(yes, relevant >= 0.5, t, options);
        return [
          { kind: "reward", channel, about: [{ trajectory: t.id, turn: k }], value, source: "environment" },
        ];
      }),
    );
}

function worth(yes: boolean, useful: boolean, t: Trajectory, options: JudgementOptions): number {
  const { reward = 0.1, penalty = 0.05 } = options;
  if (!yes) return useful ? -penalty : reward / 5;
  if (options.yes === "usefulness") return useful ? reward : -penalty;
  if (succeeded(t)) return reward;
  return useful ? -penalty / 2 : -penalty;
}

function said({ action }: Turn): boolean | undefined {
  const text = action.content.trim().toLowerCase();
  return text === "yes" ? true : text === "no" ? false : undefined;
}
