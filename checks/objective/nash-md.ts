import { leaveOneOut } from "../../src/advantage/leaveOneOut.ts";
import { preferenceGame } from "../../src/env/preferenceGame.ts";
import { nashMd } from "../../src/method/objective/nash-md.ts";
import { armOf, defineCheck, type PracticeArm } from "../../src/train/index.ts";
import { against, engineOf, exploited, fromNash, penalised } from "./_preferences.ts";

const beta = 0.1;
const environment = (seed: number) => preferenceGame({ seed, questions: 4, replies: 5 });

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
    metric: ({ policy }, seed) => fromNash(environment(seed), policy, seed, beta),
    more: async ({ policy }, seed) => ({ exploitability: await exploited(environment(seed), policy) }),
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
    penalised("rlhf", "RLHF: each reply's score is its mean win rate, same penalty", beta, {
      advantage: leaveOneOut(),
    }),
    16,
  ),
  method: arm(nashMd, 8),
  notes:
    "The opponent's fixed share of the reference leaves a bias: self-play with the same penalty and no mixture comes nearer to the Nash policy of the regularised game. Without any penalty self-play runs away (more than 1 nat). So the mixture is not needed where the penalty damps the chase; the claim shown is the one against scores alone.",
  others: {
    "best response to the reference": arm(against("reference", beta), 8),
    "self-play": arm(against("policy", beta), 8),
  },
});
