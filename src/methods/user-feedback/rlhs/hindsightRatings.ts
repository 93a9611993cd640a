import { evaluatorIn } from "../../../core/evaluator.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { OutcomeSimulator, SimulatedOutcome } from "./outcomeSimulator.ts";

/** Settings of {@link hindsightRatings}. */
export interface HindsightRatingsOptions {
  /** Outcome simulator after the conversation. Default: {@link verified}, the environment's own. */
  readonly world?: OutcomeSimulator;
  /** "partial": the rater sees the outcome of the chosen option. "full": also of the others. Default "partial". */
  readonly shown?: "partial" | "full";
  /** N, number of steps seen before the rating. Default: all. */
  readonly steps?: number;
  /** γ, discount per step, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * Ratings requested after the user has acted on the advice and seen the outcome, instead of right after the conversation,
 * when satisfaction depends on promises: one `score` per trajectory.
 *
 *     V(o) = Σ_{t < N} γ^t u[t](o)                 u(o): utility of option o per step, from the simulator
 *     partial: r = V(taken)        full: r = V(taken) − max over the other options of V
 *
 * If the simulator is exact and |u| ≤ u_max, the unseen part of U = Σ_t γ^t u[t] is at most γ^N u_max / (1 − γ): the error
 * falls geometrically in N. A learnt simulator adds its own error. Without another option, full equals partial. Failed
 * episodes, and those that the simulator cannot evaluate, get no signal.
 * Paper: "RLHS: Mitigating Misalignment in RLHF with Hindsight Simulation".
 */
export function hindsightRatings(options: HindsightRatingsOptions = {}): Feedback {
  const { world = verified(), channel = "outcome" } = options;
  return async (ctx, { trajectories }) => {
    const rated = await Promise.all(
      trajectories
        .filter((t) => t.end.kind !== "failed")
        .map(async (t) => {
          const came = await world(ctx, t, ctx.random.split("aftermath", t.id));
          return came ? [{ t, value: ratingOf(came, options) }] : [];
        }),
    );
    return rated.flat().map(({ t, value }) => ({
      kind: "score",
      channel,
      about: [{ trajectory: t.id }],
      value,
      source: "hindsight",
    }));
  };
}

/** The rating of a user who has seen the outcome; see {@link hindsightRatings}. */
export function ratingOf(
  { taken, utilities }: SimulatedOutcome,
  { shown = "partial", steps = Number.POSITIVE_INFINITY, discount = 1 }: HindsightRatingsOptions = {},
): number {
  const worth = (option: string): number =>
    (utilities[option] ?? []).slice(0, steps).reduce((sum, u, t) => sum + discount ** t * u, 0);
  const others = Object.keys(utilities).filter((option) => option !== taken);
  if (shown === "partial" || others.length === 0) return worth(taken);
  return worth(taken) - Math.max(...others.map(worth));
}

/**
 * The environment's rewards of the finished episode as the outcome: one option, one step. Undefined if the environment has
 * no such reward.
 * @param rewards which of its named rewards are added up. Default "outcome" alone.
 */
export function verified(rewards: readonly string[] = ["outcome"]): OutcomeSimulator {
  return async (ctx, t) => {
    const scores = await evaluatorIn(ctx, ctx.environment).score(t, ctx.random.split("score", t.id));
    const values = Object.entries(scores ?? {}).flatMap(([name, value]) =>
      rewards.includes(name) ? [value] : [],
    );
    if (values.length === 0) return undefined;
    return { taken: "advice", utilities: { advice: [values.reduce((a, b) => a + b, 0)] } };
  };
}
