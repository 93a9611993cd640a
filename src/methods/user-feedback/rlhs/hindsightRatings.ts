import { signalValue } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Aftermath, World } from "./outcomeSimulator.ts";

/** Settings of {@link hindsightRatings}. */
export interface HindsightRatingsOptions {
  /** Who plays on after the conversation. Default: {@link verdict}, the environment's own. */
  readonly world?: World;
  /** "partial": the rater sees what came of the option taken. "full": also of those that were not. Default "partial". */
  readonly shown?: "partial" | "full";
  /** N, how many steps are seen before the rating is asked for. Default: all. */
  readonly steps?: number;
  /** γ, worth of a step later, in [0, 1]. Default 1. */
  readonly discount?: number;
  /** Default "outcome". */
  readonly channel?: string;
}

/**
 * Ratings that are asked for after the user has acted on the advice and seen what came of it, instead of right after the
 * conversation, when satisfaction is made of what was promised: one `score` for each trajectory.
 *
 *     V(o) = Σ_{t < N} γ^t u[t](o)                 u(o): what option o brings, step by step, as the world plays on
 *     partial: r = V(taken)        full: r = V(taken) − max over the other options of V
 *
 * Where the world is the true one and |u| ≤ u_max, what is not seen of U = Σ_t γ^t u[t] is at most γ^N u_max / (1 − γ):
 * the error falls geometrically in N. A world that has learnt adds its own. Without another option full is partial.
 * Failed episodes, and those of which the world cannot tell, get no signal.
 * Paper: "RLHS: Mitigating Misalignment in RLHF with Hindsight Simulation".
 */
export function hindsightRatings(options: HindsightRatingsOptions = {}): Feedback {
  const { world = verdict(), channel = "outcome" } = options;
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

/** What somebody says who has seen it; see {@link hindsightRatings}. */
export function ratingOf(
  { taken, utilities }: Aftermath,
  { shown = "partial", steps = Number.POSITIVE_INFINITY, discount = 1 }: HindsightRatingsOptions = {},
): number {
  const worth = (option: string): number =>
    (utilities[option] ?? []).slice(0, steps).reduce((sum, u, t) => sum + discount ** t * u, 0);
  const others = Object.keys(utilities).filter((option) => option !== taken);
  if (shown === "partial" || others.length === 0) return worth(taken);
  return worth(taken) - Math.max(...others.map(worth));
}

/**
 * The environment's own verdict on the finished episode as what came of it: one option, one step. It cannot tell where
 * the environment has no such verdict.
 * @param rewards which of its named rewards are added up. Default "outcome" alone.
 */
export function verdict(rewards: readonly string[] = ["outcome"]): World {
  return async (ctx, t) => {
    const values = (await ctx.verify(t)).flatMap((signal) =>
      rewards.includes(signal.channel) ? (signalValue(signal) ?? []) : [],
    );
    if (values.length === 0) return undefined;
    return { taken: "advice", utilities: { advice: [values.reduce((a, b) => a + b, 0)] } };
  };
}
