/** A joint preference model for users with different tastes: see {@link variationalPreference}. */

import { z } from "zod";
import { adamwDefaults, adamwStep } from "../../../common/statistics/adamw.ts";
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Json } from "../../../core/json.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import { savedState } from "../../../helper/savedState.ts";
import {
  layoutOf,
  posteriorOf,
  rewardOf,
  type TasteExample,
  type TasteSizes,
  tasteLoss,
  type Vote,
} from "./latentTaste.ts";

/** Settings of {@link variationalPreference}. */
export interface VariationalPreferenceOptions {
  /** Dimensions of the taste; 0 is one reward for everybody, Bradley and Terry's. Default 2. */
  readonly latent?: number;
  /** Units of the encoder. Default 16. */
  readonly units?: number;
  /** β, weight of the KL divergence from N(0, 1); too large a value collapses the taste to the prior. Default 0.01. */
  readonly beta?: number;
  /** Steps of Adam in one fit. Default 600. */
  readonly steps?: number;
  /** Step size, which falls to 0 over the steps. Default 0.05. */
  readonly learningRate?: number;
  /** Votes per user and step that are predicted from other votes of the same user. Default 4. */
  readonly targets?: number;
}

/** A user's votes, and the items to score for this user. */
export interface TasteQuestion {
  readonly votes: readonly Vote[];
  readonly things: readonly (readonly number[])[];
}

/** What was learnt. */
export interface TasteModel {
  readonly sizes: TasteSizes;
  readonly theta: Float64Array;
  /** Items of the comparison pool. */
  readonly pool: readonly (readonly number[])[];
}

/**
 * Fits {@link tasteLoss} on users with two votes or more: in each step at most `targets` of a user's votes are predicted
 * from a taste inferred from up to eight others. Undefined if no user has two votes.
 */
export function fitTastes(
  people: readonly (readonly Vote[])[],
  random: Random,
  options: VariationalPreferenceOptions = {},
): TasteModel | undefined {
  const { latent = 2, units = 16, beta = 0.01, steps = 600, learningRate = 0.05, targets = 4 } = options;
  const able = people.filter((votes) => votes.length >= 2);
  const traits = able[0]?.[0]?.[0].length;
  if (traits === undefined) return undefined;
  const sizes = { traits, units, latent };
  const { length, shared } = layoutOf(sizes);
  const begin = random.split("weights");
  // w₀ starts at 0; U starts small but not at 0, where its gradient vanishes
  const theta = Float64Array.from(
    { length },
    (_, i) => (i >= shared && i < shared + traits ? 0 : 0.3) * begin.normal(),
  );
  const [m, v] = [new Float64Array(length), new Float64Array(length)];
  for (let step = 1; step <= steps; step++) {
    const draw = random.split("step", step);
    const gradient = new Float64Array(length);
    const examples = able.map((votes): TasteExample => {
      const order = shuffled(votes, draw);
      const explained = Math.min(targets, Math.ceil(votes.length / 2));
      const context = order.slice(
        explained,
        explained + 1 + draw.below(Math.min(8, votes.length - explained)),
      );
      const noise = Float64Array.from({ length: latent }, () => draw.normal());
      return { context, targets: order.slice(0, explained), noise };
    });
    tasteLoss(theta, sizes, examples, beta, gradient);
    const rate = learningRate * (1 - (step - 1) / steps);
    adamwStep(theta, gradient, m, v, { ...adamwDefaults, learningRate: rate, weightDecay: 0, step });
  }
  return { sizes, theta, pool: shuffled(able.flat(2), random.split("pool")).slice(0, 64) };
}

/**
 * Variational preference learning: one reward model for users with different tastes. A user's taste is inferred from a few
 * comparisons, also for users not seen in training. A row of `fit` is one user with all known votes (`things` and the
 * label are ignored); `predict` gives each item's probability of beating a random one at the mean of that user's taste,
 *
 *     r̄(s) = mean over s′ of the pool of σ(r(s, z) − r(s′, z))          in [0, 1]
 *
 * so that rewards of different tastes have the same scale; NaN before the first fit. Each fit starts anew. `fit` reports
 * `rows`. Paper: "Personalizing Reinforcement Learning from Human Feedback with Variational Preference Learning".
 */
export function variationalPreference(
  options: VariationalPreferenceOptions = {},
): (random: Random) => StatefulHelper<TasteQuestion, null, readonly number[]> {
  return (random) => {
    let model: TasteModel | undefined;
    return {
      async fit(rows) {
        model = fitTastes(
          rows.map(({ x }) => x.votes),
          random.split("fit"),
          options,
        );
        return { rows: rows.length };
      },
      predict: async (xs) =>
        xs.map(({ votes, things }) => things.map((thing) => beating(model, votes, thing))),
      save: () =>
        model === undefined
          ? null
          : {
              sizes: { ...model.sizes },
              theta: [...model.theta],
              pool: model.pool.map((thing) => [...thing]),
            },
      load(state) {
        model = read(state);
      },
    };
  };
}

/** r̄ of an item for the user with these votes. */
export function beating(
  model: TasteModel | undefined,
  votes: readonly Vote[],
  thing: readonly number[],
): number {
  if (!model) return Number.NaN;
  const { theta, sizes, pool } = model;
  const { mean } = posteriorOf(theta, sizes, votes);
  const own = rewardOf(theta, sizes, thing, mean);
  return pool.reduce(
    (sum, other) => sum + sigmoid(own - rewardOf(theta, sizes, other, mean)) / pool.length,
    0,
  );
}

const saved = z
  .object({
    sizes: z.object({ traits: z.number(), units: z.number(), latent: z.number() }),
    theta: z.array(z.number()).transform((xs) => Float64Array.from(xs)),
    pool: z.array(z.array(z.number())),
  })
  .nullable();

/** @throws WhetstoneError `checkpoint.damaged` if the state was not saved by this kind of helper. */
const read = (state: Json): TasteModel | undefined =>
  savedState(saved, state, {
    where: "variational preference helper",
    expected: "sizes, theta and pool, or null",
  }) ?? undefined;
