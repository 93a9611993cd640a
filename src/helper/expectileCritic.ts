/** Offline critic of observations and utterances (implicit Q-learning): it never queries utterances outside the data. */

import { z } from "zod";
import type { StatefulHelper } from "../core/context.ts";
import type { Json } from "../core/json.ts";
import { savedState } from "./savedState.ts";

/** An observation and an utterance. */
export interface Said {
  readonly observation: string;
  readonly utterance: string;
}

/** The outcome of a turn: its reward, and the next observation; null at the end. */
export interface CameOf {
  readonly reward: number;
  readonly next: string | null;
}

/** Q(o, a) and V(o). Q of an unseen utterance is V(o); V of an unseen observation is 0. */
export interface Worth {
  readonly q: number;
  readonly v: number;
}

/** Settings of {@link expectileCritic}. */
export interface ExpectileCriticOptions {
  /** Expectile τ in (0, 1): 0.5 gives the mean over the data's utterances, values towards 1 the best of them. Default 0.9. */
  readonly expectile?: number;
  /** Discount factor γ per turn, in [0, 1]. Default 0.99. */
  readonly discount?: number;
  /** Step size towards a target, in (0, 1]. Default 0.1. */
  readonly learningRate?: number;
  /** Share of Q that each fit blends into the target network Q̄, in (0, 1]. Default 0.3. */
  readonly blend?: number;
}

/**
 * Tables over whole texts, learnt from transitions (o, a, r, o′). For every row of a fit, in order, with u = Q̄(o, a) − V(o):
 *
 *     Q(o, a) ← Q(o, a) + rate · weight · (r + γ V(o′) − Q(o, a))          V(end) = 0
 *     V(o)    ← V(o) + rate · weight · 2 |τ − 1[u < 0]| · u                expectile regression; τ = ½: the mean
 *     then      Q̄ ← (1 − blend) · Q̄ + blend · Q
 *
 * A new entry is initialised at its own target, so that negative rewards do not make rare entries look good. V(o) approaches
 * the best utterance in the data at o, not the best possible one, so values stay within the support of the data. With
 * `next: null` and a return as the reward, Q is the mean of returns (Monte Carlo).
 * `fit` reports `rows` and `error`, the mean squared error of Q before each step.
 * Papers: "Offline RL for Natural Language Generation with Implicit Language Q Learning"; "LMRL Gym: Benchmarks for
 * Multi-Turn Reinforcement Learning with Language Models".
 */
export function expectileCritic(
  options: ExpectileCriticOptions = {},
): () => StatefulHelper<Said, CameOf, Worth> {
  const { expectile = 0.9, discount = 0.99, learningRate = 0.1, blend = 0.3 } = options;
  return () => {
    let values = new Map<string, number>();
    /** By observation, then utterance. */
    let worths = new Map<string, Map<string, Utterance>>();
    const setWorth = (observation: string, utterance: string, worth: Utterance): Utterance => {
      const here = worths.get(observation) ?? new Map<string, Utterance>();
      worths.set(observation, here.set(utterance, worth));
      return worth;
    };
    return {
      async fit(rows) {
        let error = 0;
        for (const { x, y, weight } of rows) {
          const { observation, utterance } = x;
          const target = y.reward + discount * (y.next === null ? 0 : (values.get(y.next) ?? 0));
          const said =
            worths.get(observation)?.get(utterance) ??
            setWorth(observation, utterance, { q: target, slow: target });
          const off = target - said.q;
          error += off ** 2 / rows.length;
          said.q += learningRate * weight * off;
          const value = values.get(observation) ?? said.slow;
          const above = said.slow - value;
          const pull = 2 * (above < 0 ? 1 - expectile : expectile);
          values.set(observation, value + learningRate * weight * pull * above);
        }
        for (const here of worths.values())
          for (const said of here.values()) said.slow += blend * (said.q - said.slow);
        return rows.length === 0 ? { rows: 0 } : { rows: rows.length, error };
      },
      predict: async (xs) =>
        xs.map(({ observation, utterance }) => {
          const v = values.get(observation) ?? 0;
          return { q: worths.get(observation)?.get(utterance)?.q ?? v, v };
        }),
      save: () => ({
        values: [...values].map(([name, v]) => [name, v]),
        worths: [...worths].flatMap(([observation, here]) =>
          [...here].map(([utterance, { q, slow }]) => [observation, utterance, q, slow]),
        ),
      }),
      load(state) {
        const kept = read(state);
        values = new Map(kept.values);
        worths = new Map();
        for (const [observation, utterance, q, slow] of kept.worths)
          setWorth(observation, utterance, { q, slow });
      },
    };
  };
}

interface Utterance {
  q: number;
  slow: number;
}

const saved = z.object({
  values: z.array(z.tuple([z.string(), z.number()])),
  worths: z.array(z.tuple([z.string(), z.string(), z.number(), z.number()])),
});

/** @throws WhetstoneError `checkpoint.damaged` where the state does not belong to this kind of helper. */
const read = (state: Json): z.infer<typeof saved> =>
  savedState(saved, state, { where: "expectileCritic helper", expected: "a state with values and worths" });
