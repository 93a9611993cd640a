/** A pair of critics of observations and utterances, with slow copies of both for targets. */

import type { StatefulHelper } from "../../../core/context.ts";
import type { WhetstoneError } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import { damagedState } from "../../../helper/savedState.ts";

/** With an utterance: the action value Q(o, a); without: the state value V(o). */
export interface CriticQuestion {
  readonly observation: string;
  readonly utterance?: string;
}

/** One value from each of the two critics. */
export type Pair = readonly [number, number];

export interface CriticAnswer {
  readonly now: Pair;
  /** Of the slow copies. */
  readonly target: Pair;
}

/** Settings of {@link twinCritic}. */
export interface TwinCriticOptions {
  /** Step towards a target, in (0, 1]. Default 0.3. */
  readonly learningRate?: number;
  /** τ, share of the critics that each fit blends into their slow copies, in (0, 1]. Default 0.1. */
  readonly blend?: number;
  /** Features of a text; the critics do not distinguish texts with equal features. Default: the whole text. */
  readonly features?: (text: string) => readonly string[];
  /** Standard deviation of the initial weights, which makes the two critics differ. Default 0.01. */
  readonly spread?: number;
}

/**
 * Two pairs of linear critics over features of texts, Q over (feature of the observation, utterance) and V over features
 * of the observation, each the mean of its features' weights:
 *
 *     Q_i(o, a) = mean_f q_i[f, a],   V_i(o) = mean_f v_i[f]            i = 1, 2
 *     fit:     w[f] ← w[f] + rate · weight · (y_i − prediction_i)       for every row in turn
 *     then     slow ← (1 − τ) · slow + τ · w                            for every weight
 *
 * With whole texts as features they are tables. `fit` reports `rows` and `error`, the mean squared error before each step.
 * Papers: "ArCHer: Training Language Model Agents via Hierarchical Multi-Turn RL"; two critics: "Addressing Function
 * Approximation Error in Actor-Critic Methods".
 */
export function twinCritic(
  options: TwinCriticOptions = {},
): (random: Random) => StatefulHelper<CriticQuestion, Pair, CriticAnswer> {
  const { learningRate = 0.3, blend = 0.1, features = (text) => [text], spread = 0.01 } = options;
  return (random) => {
    /** [critic 1, critic 2, slow 1, slow 2] by name. */
    let weights = new Map<string, Weights>();
    const first = (name: string): Weights => {
      const [a, b] = [0, 1].map((i) => spread * random.split("weight", i, name).normal());
      return [a!, b!, a!, b!];
    };
    const namesOf = ({ observation, utterance }: CriticQuestion): readonly string[] =>
      features(observation).map((f) => (utterance === undefined ? `V ${f}` : `Q ${f}\n${utterance}`));
    const answer = (x: CriticQuestion): Weights => {
      const names = namesOf(x);
      const sum: [number, number, number, number] = [0, 0, 0, 0];
      for (const name of names) {
        const w = weights.get(name) ?? first(name);
        for (let i = 0; i < 4; i++) sum[i]! += w[i]! / names.length;
      }
      return sum;
    };
    return {
      async fit(rows) {
        let error = 0;
        for (const { x, y, weight } of rows) {
          const said = answer(x);
          const [one, two] = [y[0] - said[0], y[1] - said[1]];
          error += (one ** 2 + two ** 2) / 2 / rows.length;
          const rate = learningRate * weight;
          for (const name of namesOf(x)) {
            const w = weights.get(name) ?? first(name);
            weights.set(name, [w[0] + rate * one, w[1] + rate * two, w[2], w[3]]);
          }
        }
        for (const [name, [a, b, slowA, slowB]] of weights)
          weights.set(name, [a, b, slowA + blend * (a - slowA), slowB + blend * (b - slowB)]);
        return rows.length === 0 ? { rows: 0 } : { rows: rows.length, error };
      },
      predict: async (xs) =>
        xs.map((x) => {
          const [a, b, slowA, slowB] = answer(x);
          return { now: [a, b], target: [slowA, slowB] };
        }),
      save: () => ({ weights: [...weights].map(([name, w]) => [name, ...w]) }),
      load(state) {
        weights = read(state);
      },
    };
  };
}

type Weights = readonly [number, number, number, number];

/** @throws WhetstoneError `checkpoint.damaged` if the state was not saved by this kind of helper. */
function read(state: Json): Map<string, Weights> {
  const rows = typeof state === "object" && state !== null && "weights" in state ? state.weights : undefined;
  const damaged = (): WhetstoneError =>
    damagedState({ where: "twinCritic helper", expected: "weights, each a name and four numbers" });
  if (!Array.isArray(rows)) throw damaged();
  const weights = new Map<string, Weights>();
  for (const row of rows) {
    if (!Array.isArray(row)) throw damaged();
    const [name, a, b, c, d] = row;
    const good =
      typeof a === "number" && typeof b === "number" && typeof c === "number" && typeof d === "number";
    if (typeof name !== "string" || !good) throw damaged();
    weights.set(name, [a, b, c, d]);
  }
  return weights;
}
