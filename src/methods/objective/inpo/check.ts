import { meanOver } from "../../../diagnose/replyProbabilities.ts";
import type { Recipe } from "../../../method/method.ts";
import { type PairwiseOptions, pairwise } from "../../../objective/pairwise.ts";
import { type Arm, type Choice, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { engineOf, policyOf } from "../../../worlds/arms/preferences.ts";
import { exploitability } from "../../../worlds/equilibrium.ts";
import { preferenceGame, preferencesOf } from "../../../worlds/preferenceGame.ts";
import { dpo } from "../../baseline/dpo/method.ts";
import { inpo } from "./method.ts";

const tau = 0.1;
/** Three replies with cyclic preferences of 0.9, and three that lose to all of them. */
const environment = (seed: number) =>
  preferenceGame({ seed, questions: 2, replies: 6, losers: 3, strength: [0.9, 0.9] });

/** Only one parameter of the loss is tuned; steps, pairs and epochs are equal for all arms. */
function arm(
  what: string,
  recipe: Recipe,
  grid: readonly Choice[],
  lossOf: (choice: number) => PairwiseOptions,
): Arm {
  return {
    what,
    grid,
    async measure(choice, seed) {
      const engine = engineOf(seed);
      const base = recipe.build({
        tasks: 2,
        groupSize: 96,
        epochs: 20,
        learningRate: 0.05,
        schedule: "linear",
        warmUp: 0,
        gradientClip: 1e9,
      });
      const done = await trainInMemory({
        environment: environment(seed),
        method: { ...base, slots: { ...base.slots, objective: [pairwise(lossOf(Number(choice.strength)))] } },
        engine,
        seed,
        iterations: 25,
      });
      return {
        value: await meanOver(environment(seed).tasks("train"), async (task) =>
          exploitability(preferencesOf(task), await policyOf(done.policy, task)),
        ),
        cost: { episodes: done.counters.episodes ?? 0, tokens: done.counters["tokens.sampled"] ?? 0 },
      };
    },
  };
}

const strengths = [0.2, 0.5, 1, 2, 5].map((strength) => ({ strength }));

export default defineCheck({
  id: "inpo",
  level: "shared",
  simpler: ["iterative DPO"],
  claim:
    "On votes that run in circles, rounds of INPO end near the Nash policy, which no reply beats by much; rounds of DPO go on chasing the circle.",
  metric: "exploitability (win rate of the best reply, less 1/2) after 25 rounds, exact",
  direction: "lower",
  smallestEffect: 0.01,
  range: [0, 0.5],
  tuningSeeds: 2,
  baseline: arm("DPO against the reference, β to choose", dpo, strengths, (beta) => ({ beta })),
  method: arm("INPO, η to choose, τ = 0.1", inpo, strengths, (eta) => ({
    loss: "squared",
    beta: eta,
    against: { reference: tau / eta, sampled: 1 - tau / eta },
  })),
  others: {
    "iterative DPO": arm("DPO against the policy that sampled, β to choose", dpo, strengths, (beta) => ({
      beta,
      against: { sampled: 1 },
    })),
  },
});
