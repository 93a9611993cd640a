import type { Helper } from "../core/context.ts";
import { type Random, shuffled } from "../core/random.ts";
import type { Signal } from "../core/signal.ts";
import type { Feedback } from "../core/slots.ts";
import type { Trajectory, Turn } from "../core/types.ts";

/** Named numbers; an absent name counts as 0. */
type Features = Readonly<Record<string, number>>;

/** Settings of {@link contributions}. */
export interface ContributionsOptions {
  /** The helper that learns what a turn contributes. Default "progress". */
  readonly helper?: string;
  /** The helper's features of a turn. Default: one feature for its state and action together. */
  readonly features?: (turn: Turn) => Features;
  /** Named rewards whose sum is the outcome. Default "outcome" alone. */
  readonly rewards?: readonly string[];
  /** Number of first iterations that only fit the helper. Default 20. */
  readonly explore?: number;
  /** Whether the helper is fitted to each later batch too, before it scores that batch. Default false. */
  readonly refit?: boolean;
  /** Fit on `steps` sampled turns of an episode, `draws` times. Default: all turns, once. */
  readonly sample?: { readonly steps: number; readonly draws: number };
  /** α, the weight of a contribution. Default 1. */
  readonly weight?: number;
  /** Penalty for a turn that changed nothing, in units of the outcome. Default 0. */
  readonly fine?: number;
  /** The named reward that says whether a turn changed something, 1 or 0. Default "executable". */
  readonly executable?: string;
  /** Default "progress". */
  readonly channel?: string;
}

/**
 * Redistributes outcomes to turns: a helper learns per-turn contributions that only have to add up to the outcome.
 *
 *     fitted on   Σ_t features(t) → R                                all T turns of an episode at once
 *           or    mean of features over K turns drawn → R / T        with `sample`: K turns without replacement
 *     r_t = α · c(features of turn t) − fine · [turn t changed nothing]
 *
 * During the first `explore` iterations there are no signals, so the policy is not trained; afterwards the helper stays
 * fixed, unless it is refitted. It needs different outcomes: where all are equal, every turn gets the same value. A turn
 * for which the environment does not report whether it changed something has no penalty. Failed episodes are not used for
 * fitting and get no signal.
 * Papers: "SPA-RL: Reinforcing LLM Agents via Stepwise Progress Attribution"; K turns at a time: "Latent Reward:
 * LLM-Empowered Credit Assignment in Episodic Reinforcement Learning".
 */
export function contributions(options: ContributionsOptions = {}): Feedback {
  const { helper: name = "progress", features = stateAndAction, rewards = ["outcome"], sample } = options;
  const { explore = 20, refit = false, channel = "progress" } = options;
  const { weight = 1, fine = 0, executable = "executable" } = options;
  const lessons = (t: Trajectory, random: Random) => {
    const seen = t.turns.map(features);
    const outcome = outcomeOf(t, rewards);
    if (!sample) return [{ x: combined(seen, 1), y: outcome, weight: 1 }];
    return Array.from({ length: sample.draws }, (_, draw) => {
      const drawn = shuffled(seen, random.split(t.id, draw)).slice(0, sample.steps);
      return { x: combined(drawn, 1 / drawn.length), y: outcome / seen.length, weight: 1 / sample.draws };
    });
  };
  return async (ctx, { trajectories }) => {
    const helper: Helper<Features, number, number> = ctx.helper(name);
    const ended = trajectories.filter((t) => t.end.kind !== "failed" && t.turns.length > 0);
    const exploring = ctx.clock.iteration < explore;
    if (exploring || refit) await helper.fit(ended.flatMap((t) => lessons(t, ctx.random.split("lessons"))));
    if (exploring) return [];
    const turns = ended.flatMap(({ id, turns: own }) => own.map((turn, k) => ({ id, turn, k })));
    const worth = await helper.predict(turns.map(({ turn }) => features(turn)));
    return turns.map(({ id, turn, k }, i): Signal => {
      const idle = turn.rewards[executable] === 0 ? fine : 0;
      const value = weight * worth[i]! - idle;
      return {
        kind: "reward",
        channel,
        about: [{ trajectory: id, turn: k }],
        value,
        source: `helper:${name}`,
      };
    });
  };
}

const stateAndAction = ({ stateKey = "", action }: Turn): Features => ({
  [`${stateKey} : ${action.content}`]: 1,
});

/** The sum of named numbers, times a factor. */
function combined(parts: readonly Features[], factor: number): Features {
  const out: Record<string, number> = {};
  for (const part of parts)
    for (const [name, value] of Object.entries(part)) out[name] = (out[name] ?? 0) + factor * value;
  return out;
}

function outcomeOf(t: Trajectory, rewards: readonly string[]): number {
  let sum = 0;
  for (const turn of t.turns) for (const name of rewards) sum += turn.rewards[name] ?? 0;
  return sum;
}
