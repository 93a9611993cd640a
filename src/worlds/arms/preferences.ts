/** Shared by checks in preference games: exact policies and distances, and comparison arms. */

import { returnsToGo } from "../../advantage/returnsToGo.ts";
import type { Model } from "../../core/model.ts";
import { randomStream } from "../../core/random.ts";
import type { Task } from "../../core/types.ts";
import { meanOver, replyProbabilities } from "../../diagnose/replyProbabilities.ts";
import { type Prior, tabularEngine } from "../../engine/tabular/engine.ts";
import type { Environment } from "../../env/environment.ts";
import { winRates } from "../../feedback/winRates.ts";
import { method, type Recipe, type SlotChoices } from "../../method/method.ts";
import { klPenalty } from "../../objective/klPenalty.ts";
import { policyGradient } from "../../objective/policyGradient.ts";
import { opponents } from "../../rollout/opponents.ts";
import type { Arm } from "../../train/check.ts";
import { plainAscent, trainingArm } from "../../train/trainingArm.ts";
import { divergence, exploitability, regularisedNash } from "../equilibrium.ts";
import { preferencesOf, repliesOf } from "../preferenceGame.ts";

/** Tabular policies initialised at a random reference, fixed per seed: logits are normal with this deviation. */
export function engineOf(seed: number, deviation = 1): ReturnType<typeof tabularEngine> {
  const prior: Prior = (context, word) =>
    /^r\d+$/.test(word)
      ? deviation *
        randomStream(seed)
          .split("reference", ...context, word)
          .normal()
      : -1e9;
  return tabularEngine({ context: "message", prior });
}

/** The exact probability of each reply to a task. */
export const policyOf = (model: Pick<Model, "codec" | "score">, task: Task): Promise<Float64Array> =>
  replyProbabilities(model, task, repliesOf(preferencesOf(task).length));

/** Exact win rate of the best reply against the policy, less 1/2; mean over games. */
export const exploited = (environment: Environment, policy: Model): Promise<number> =>
  meanOver(environment.tasks("train"), async (task) =>
    exploitability(preferencesOf(task), await policyOf(policy, task)),
  );

/** Exact divergence from the Nash policy of the regularised game to the policy, in nats; mean over games. */
export async function fromNash(
  environment: Environment,
  policy: Model,
  seed: number,
  tau: number,
): Promise<number> {
  const vocabulary = environment.vocabulary?.() ?? [];
  const reference = await engineOf(seed).create({ id: "reference", seed, vocabulary, contextTokens: 16 });
  return meanOver(environment.tasks("train"), async (task) => {
    const nash = regularisedNash(preferencesOf(task), await policyOf(reference, task), tau);
    return divergence(nash, await policyOf(policy, task));
  });
}

/** A policy gradient with a KL penalty of weight `beta` to the reference; `slots` overrides other slots. */
export const penalised = (id: string, summary: string, beta: number, slots: SlotChoices): Recipe =>
  method({
    id,
    family: "objective",
    summary,
    frozen: { reference: {} },
    slots: {
      objective: [
        policyGradient({ normaliser: { constant: 1 } }),
        klPenalty({ coefficient: beta, estimator: "k2", normaliser: { constant: 1 } }),
      ],
      ...slots,
    },
  });

/** Rewards are wins against the policy itself, or against the reference. */
export const against = (opponent: "policy" | "reference", beta: number): Recipe =>
  penalised(`against-${opponent}`, `wins against the ${opponent}, same penalty`, beta, {
    rollout: opponents({ opponent }),
    feedback: winRates({ against: "opponents", less: 0.5 }),
    advantage: returnsToGo({ baseline: "none" }),
  });

/** Exact updates in a one-round game, scored by the distance of the last policy from the regularised Nash policy. */
export const lastIterate = (
  game: { readonly beta: number; environment(seed: number): Environment },
  {
    recipe,
    rates,
    groupSize = 8,
  }: { readonly recipe: Recipe; readonly rates: readonly number[]; readonly groupSize?: number },
): Arm =>
  trainingArm({
    recipe,
    environment: game.environment,
    engine: engineOf,
    iterations: 100,
    settings: { ...plainAscent, tasks: 4, groupSize, schedule: "linear" },
    grid: rates.map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => fromNash(game.environment(seed), policy, seed, game.beta),
    more: async ({ policy }, seed) => ({ exploitability: await exploited(game.environment(seed), policy) }),
  });
