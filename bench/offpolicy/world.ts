/** Small worlds in which the value of every policy is known exactly, and logs of them with all that can go wrong. */
import type { Random } from "../../src/core/random.ts";
import { type Sample, withAnswer } from "../../src/offpolicy/sample.ts";

/** Probability of action a in state s, [states][actions]. */
export type Policy = readonly (readonly number[])[];

export interface World {
  readonly turns: number;
  readonly start: readonly number[];
  /** [states][actions][states]. */
  readonly next: readonly (readonly (readonly number[])[])[];
  /** Mean reward, [states][actions]. */
  readonly reward: readonly (readonly number[])[];
}

export interface Regime {
  readonly name: string;
  readonly world: World;
  readonly behaviour: Policy;
  readonly target: Policy;
  readonly trajectories: number;
  /** A reward with this mean. */
  draw(mean: number, random: Random): number;
  /** What the return may be, where that is known. */
  readonly range?: readonly [low: number, high: number];
  /** Trajectories per user, and the standard deviation of what a user adds to every reward. Default: one, 0. */
  readonly users?: { readonly sessions: number; readonly spread: number };
  /** The probability of feedback, given whether the true return was above the middle. Default: always. */
  readonly answers?: { readonly above: number; readonly below: number };
  /** What the log says of the probability of what was done, as a power of the truth. Default 1. */
  readonly misstated?: number;
  /** Added to every prediction: how wrong the model of rewards is. Default 0.1. */
  readonly modelError?: number;
  /** The intervals are expected to hold. */
  readonly sound: boolean;
}

function pick(probabilities: readonly number[], random: Random): number {
  let left = random.next();
  for (let i = 0; i < probabilities.length - 1; i++) {
    left -= probabilities[i]!;
    if (left < 0) return i;
  }
  return probabilities.length - 1;
}

const inner = (p: readonly number[], x: readonly number[]): number =>
  p.reduce((so, at, i) => so + at * x[i]!, 0);

/** Exact q and v by backward induction, [turns][states][actions] and [turns][states], undiscounted. */
export function values(world: World, policy: Policy) {
  const q: number[][][] = [];
  const v: number[][] = [];
  for (let t = world.turns - 1; t >= 0; t--) {
    const after = v[0];
    q.unshift(
      world.reward.map((rewards, s) =>
        rewards.map((r, a) => r + (after ? inner(world.next[s]![a]!, after) : 0)),
      ),
    );
    v.unshift(q[0]!.map((row, s) => inner(policy[s]!, row)));
  }
  return { q, v, value: inner(world.start, v[0]!) };
}

/** Logs of the behaviour policy, weighed for the target. */
export function logged(
  regime: Regime,
  random: Random,
): { readonly samples: Sample[]; readonly truth: number } {
  const { world, behaviour, target, users = { sessions: 1, spread: 0 }, answers, misstated = 1 } = regime;
  const { q, v, value } = values(world, target);
  const error = regime.modelError ?? 0.1;
  const samples = Array.from({ length: regime.trajectories }, (_, i): Sample => {
    const user = Math.floor(i / users.sessions);
    const mood = users.spread * random.split("mood", user).normal();
    const draws = random.split("trajectory", i);
    let s = pick(world.start, draws);
    const [ratios, rewards, action, state]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let t = 0; t < world.turns; t++) {
      const a = pick(behaviour[s]!, draws);
      ratios.push(target[s]![a]! / behaviour[s]![a]! ** misstated);
      rewards.push(regime.draw(world.reward[s]![a]!, draws) + mood);
      action.push(q[t]![s]![a]! + error);
      state.push(v[t]![s]! + error);
      s = pick(world.next[s]![a]!, draws);
    }
    const sample = { cluster: `user ${user}`, ratios, rewards, predicted: { action, state } };
    if (!answers) return sample;
    // feedback on the whole: what was earned is said at the end, or not at all, as the first state makes likely
    const reward = rewards.reduce((so, r) => so + r, 0);
    const silent = { ...sample, rewards: rewards.map(() => 0) };
    const high = action[0]! > q[0]!.flat().reduce((so, x) => so + x, 0) / q[0]!.flat().length + error;
    const chance = high ? answers.above : answers.below;
    const came = draws.next() < chance;
    return withAnswer(silent, { chance, predicted: q[0]![0]![0]! + error, ...(came ? { reward } : {}) });
  });
  return { samples, truth: value };
}
