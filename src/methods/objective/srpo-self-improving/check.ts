import { preferencePairs } from "../../../advantage/preferencePairs.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import type { Objective } from "../../../core/objective.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { comparisons } from "../../../feedback/comparisons.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { type TrainedInMemory, trainInMemory } from "../../../train/trainInMemory.ts";
import { policyOf } from "../../../worlds/arms/preferences.ts";
import { winRate } from "../../../worlds/equilibrium.ts";
import { preferenceGame, preferencesOf } from "../../../worlds/preferenceGame.ts";
import { selfImproving } from "./selfImproving.ts";
import { withRevisions } from "./withRevisions.ts";

const beta = 0.3;
const environment = (seed: number) =>
  preferenceGame({ seed, questions: 2, replies: 5, kind: "logistic", scale: 2 });

/** Tables over whole conversations, so that each draft has one; the reference's logits are normal with deviation 1/2. */
const engine = (seed: number) =>
  tabularEngine({
    prior: (context, word) =>
      /^r\d+$/.test(word)
        ? 0.5 *
          randomStream(seed)
            .split("reference", ...context, word)
            .normal()
        : -1e9,
  });

/** Trains on pairs that the reference sampled at a temperature: off-policy data for every arm. */
const learner = (objective: Objective, temperature: number) =>
  method({
    id: "offline",
    family: "objective",
    summary: "pairs of the reference at a temperature",
    frozen: { reference: {} },
    slots: ({ groupSize }) => ({
      rollout: (ctx) =>
        withRevisions(multiTurn({ groupSize, temperature }))({
          ...ctx,
          play: (play) => ctx.play({ ...play, models: { agent: "reference" } }),
        }),
      feedback: comparisons(),
      advantage: preferencePairs(),
      objective,
    }),
  });

async function solved(objective: Objective, temperature: number, seed: number): Promise<TrainedInMemory> {
  const made = engine(seed);
  return trainInMemory({
    environment: environment(seed),
    method: learner(objective, temperature).build({
      tasks: 2,
      groupSize: 48,
      minibatches: 1,
      learningRate: 0.1,
      schedule: "linear",
      warmUp: 0,
      gradientClip: 1e9,
    }),
    engine: made,
    seed,
    iterations: 100,
  });
}

/** Half the sum of differences: 0 equal, 1 disjoint. */
const variation = (p: Float64Array, q: Float64Array): number =>
  p.reduce((sum, x, i) => sum + Math.abs(x - q[i]!), 0) / 2;

const arm = (what: string, objective: Objective): Arm => ({
  what,
  grid: [{ beta }],
  async measure(_choice, seed) {
    const env = environment(seed);
    const [sharp, flat] = [await solved(objective, 0.4, seed), await solved(objective, 3, seed)];
    const vocabulary = env.vocabulary!();
    const reference = await engine(seed).create({ id: "reference", seed, vocabulary, contextTokens: 16 });
    const won = (by: TrainedInMemory) => async (task: Task) =>
      winRate(preferencesOf(task), await policyOf(by.policy, task), await policyOf(reference, task));
    return {
      value: await meanOver(env.tasks("train"), async (task) =>
        variation(await policyOf(sharp.policy, task), await policyOf(flat.policy, task)),
      ),
      cost: {
        episodes: (sharp.counters.episodes ?? 0) + (flat.counters.episodes ?? 0),
        tokens: (sharp.counters["tokens.sampled"] ?? 0) + (flat.counters["tokens.sampled"] ?? 0),
      },
      more: {
        "win rate against the reference": mean(
          await Promise.all([sharp, flat].map((by) => meanOver(env.tasks("train"), won(by)))),
        ),
      },
    };
  },
});

export default defineCheck({
  id: "srpo-self-improving",
  level: "shared",
  simpler: ["DPO"],
  claim: "What SRPO learns depends less on whose replies were compared than what IPO learns.",
  metric:
    "total variation between the generators learnt from pairs of a sharp and of a flat policy, at equal β, exact",
  direction: "lower",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 3,
  baseline: arm("IPO, β = 0.3", pairwise({ loss: "squared", beta, model: "policy" })),
  method: arm("SRPO, β = 0.3", selfImproving({ beta, model: "policy" })),
  others: { DPO: arm("DPO, β = 0.3", pairwise({ beta, model: "policy" })) },
});
