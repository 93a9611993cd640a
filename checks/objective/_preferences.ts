/** What checks in preference games share: exact policies and distances, and losses fed in other ways. */
import { returnsToGo } from "../../src/advantage/returnsToGo.ts";
import type { Model } from "../../src/core/model.ts";
import { pairRows } from "../../src/core/pack.ts";
import { randomStream } from "../../src/core/random.ts";
import { mean } from "../../src/core/statistics.ts";
import type { Task } from "../../src/core/words.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { divergence, exploitability, regularisedNash } from "../../src/env/equilibrium.ts";
import { preferencesOf, repliesOf } from "../../src/env/preferenceGame.ts";
import { winRates } from "../../src/feedback/winRates.ts";
import { method, type Recipe, type SlotChoices } from "../../src/method/index.ts";
import { klPenalty } from "../../src/objective/klPenalty.ts";
import { policyGradient } from "../../src/objective/policyGradient.ts";
import { opponents } from "../../src/rollout/opponents.ts";

/** Tables that begin at a random reference, the same for one seed: logits normal with this deviation. */
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
export async function policyOf(model: Pick<Model, "codec" | "score">, task: Task): Promise<Float64Array> {
  const prompt = model.codec.open(task.prompt);
  const words = repliesOf(preferencesOf(task).length);
  const ids = Int32Array.from(words, (word) => model.codec.encode(word)[0]!);
  const rows = pairRows([{ prompt, target: ids.subarray(0, 1) }]);
  const { at } = await model.score(rows, { at: { ids, width: ids.length } });
  return Float64Array.from(at!, Math.exp);
}

/** The mean of a number over the practised tasks. */
export async function overTasks(
  environment: Environment,
  of: (task: Task) => Promise<number>,
): Promise<number> {
  return mean(await Promise.all(environment.tasks("train").map(of)));
}

/** Exact win rate of the best reply against the policy, less 1/2; mean over games. */
export const exploited = (environment: Environment, policy: Model): Promise<number> =>
  overTasks(environment, async (task) => exploitability(preferencesOf(task), await policyOf(policy, task)));

/** Exact divergence from the Nash policy of the regularised game to the policy, nats; mean over games. */
export async function fromNash(
  environment: Environment,
  policy: Model,
  seed: number,
  tau: number,
): Promise<number> {
  const lexicon = environment.lexicon?.() ?? [];
  const reference = await engineOf(seed).create({ id: "reference", seed, lexicon, contextTokens: 16 });
  return overTasks(environment, async (task) => {
    const nash = regularisedNash(preferencesOf(task), await policyOf(reference, task), tau);
    return divergence(nash, await policyOf(policy, task));
  });
}

/** The policy gradient with a penalty of weight `beta` on leaving the reference, over other slots. */
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

/** Rewards for wins against the policy itself, or against the reference. */
export const against = (opponent: "policy" | "reference", beta: number): Recipe =>
  penalised(`against-${opponent}`, `wins against the ${opponent}, same penalty`, beta, {
    rollout: opponents({ opponent }),
    feedback: winRates({ against: "opponents", less: 0.5 }),
    advantage: returnsToGo({ baseline: "none" }),
  });
