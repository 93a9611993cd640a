import type { Signal } from "../../../core/signal.ts";
import type { Feedback, Rollout } from "../../../core/slots.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";

/** Settings of {@link tracesOf}. */
export interface TracesOfOptions {
  readonly groupSize: number;
  readonly temperature: number;
  /** The frozen model that thinks. */
  readonly model: string;
}

/**
 * Judgements of a frozen model for the policy to imitate: everything that it said, with origin "demonstrated", so that no ratio is formed.
 * Which of them are kept is for the advantage to say. Where verdicts were refused on the way, a kept trace may begin with a wrong verdict,
 * has a cue after it, and ends in a right one.
 */
export const tracesOf =
  ({ groupSize, temperature, model }: TracesOfOptions): Rollout =>
  async (ctx) => {
    const models = Object.fromEntries(ctx.roles.map((role) => [role, model]));
    const played = await multiTurn({ groupSize, temperature, models })(ctx);
    return { ...played, trajectories: played.trajectories.map(asPolicy) };
  };

const asPolicy = (t: Trajectory): Trajectory => ({
  ...t,
  origin: "demonstrated",
  turns: t.turns.map((turn) => ({ ...turn, model: "policy" })),
});

/**
 * The reward of a judgement, on channel "outcome":
 *
 *     R = 1 for a right verdict, 0 for a wrong one, `malformed` where it ended without one
 *
 * Failed episodes get none. Paper: "J1: Exploring Simple Test-Time Scaling for LLM-as-a-Judge".
 */
export const verdictReward =
  (malformed: number): Feedback =>
  async (_ctx, { trajectories }) =>
    trajectories
      .filter(({ end }) => end.kind !== "failed")
      .map((t): Signal => {
        const value = t.end.kind === "done" ? Number(succeeded(t)) : malformed;
        return {
          kind: "reward",
          channel: "outcome",
          about: [{ trajectory: t.id }],
          value,
          source: "verdict",
        };
      });
