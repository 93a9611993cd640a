import { leaveOneOut } from "../../src/advantage/leaveOneOut.ts";
import { returnsToGo } from "../../src/advantage/returnsToGo.ts";
import { divergence, exploitability, regularisedNash } from "../../src/env/equilibrium.ts";
import { preferenceGame, preferencesOf } from "../../src/env/preferenceGame.ts";
import { winRates } from "../../src/feedback/winRates.ts";
import { method, type SlotChoices } from "../../src/method/method.ts";
import { nashMd } from "../../src/method/objective/nash-md.ts";
import { klPenalty } from "../../src/objective/klPenalty.ts";
import { policyGradient } from "../../src/objective/policyGradient.ts";
import { opponents } from "../../src/rollout/opponents.ts";
import { armOf, defineCheck, type PracticeArm, type Practised } from "../../src/train/index.ts";
import { engineOf, overTasks, policyOf } from "./_preferences.ts";

const beta = 0.1;
const environment = (seed: number) => preferenceGame({ seed, questions: 4, replies: 5 });

/** Exact divergence from the Nash policy of the regularised game to the policy, nats, mean over games. */
async function fromNash({ policy }: Practised, seed: number): Promise<number> {
  const reference = await engineOf(seed).create({
    id: "reference",
    seed,
    lexicon: environment(seed).lexicon!(),
    contextTokens: 16,
  });
  return overTasks(environment(seed), async (task) => {
    const nash = regularisedNash(preferencesOf(task), await policyOf(reference, task), beta);
    return divergence(nash, await policyOf(policy, task));
  });
}

const exploited = ({ policy }: Practised, seed: number): Promise<number> =>
  overTasks(environment(seed), async (task) =>
    exploitability(preferencesOf(task), await policyOf(policy, task)),
  );

const arm = (recipe: PracticeArm["recipe"], groupSize: number) =>
  armOf({
    recipe,
    environment,
    engine: engineOf,
    iterations: 100,
    settings: {
      tasks: 4,
      groupSize,
      minibatches: 1,
      warmUp: 0,
      schedule: "linear",
      gradientClip: 1e9,
      optimiser: "sgd",
    },
    grid: [1, 4, 15, 60, 240].map((learningRate) => ({ learningRate })),
    metric: fromNash,
    more: async (done, seed) => ({ exploitability: await exploited(done, seed) }),
  });

/** The same losses, otherwise fed. */
const variant = (id: string, summary: string, slots: SlotChoices) =>
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
const against = (opponent: "policy" | "reference", summary: string) =>
  variant(`against-${opponent}`, summary, {
    rollout: opponents({ opponent }),
    feedback: winRates({ against: "opponents", less: 0.5 }),
    advantage: returnsToGo({ baseline: "none" }),
  });

export default defineCheck({
  id: "nash-md",
  claim:
    "Where preferences run in circles, the last policy of Nash-MD is near the Nash policy of the regularised game, and that of RLHF with a score per reply is not.",
  metric: "divergence from the regularised Nash policy after 100 updates, nats, exact",
  direction: "lower",
  smallestEffect: 0.02,
  tuningSeeds: 2,
  baseline: arm(
    variant("rlhf", "RLHF: each reply's score is its mean win rate, same penalty", {
      advantage: leaveOneOut(),
    }),
    16,
  ),
  method: arm(nashMd, 8),
  notes:
    "The opponent's fixed share of the reference leaves a bias: self-play with the same penalty and no mixture comes nearer to the Nash policy of the regularised game. Without any penalty self-play runs away (more than 1 nat). So the mixture is not needed where the penalty damps the chase; the claim shown is the one against scores alone.",
  others: {
    "best response to the reference": arm(against("reference", "wins against the reference"), 8),
    "self-play": arm(against("policy", "wins against itself, same penalty"), 8),
  },
});
