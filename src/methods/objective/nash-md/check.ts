import { leaveOneOut } from "../../../advantage/leaveOneOut.ts";
import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { against, lastIterate, penalised } from "../../../worlds/arms/preferences.ts";
import { preferenceGame } from "../../../worlds/preferenceGame.ts";
import { nashMd } from "./method.ts";

const beta = 0.1;
const environment = (seed: number) => preferenceGame({ seed, questions: 4, replies: 5 });

const arm = (recipe: Recipe, groupSize = 8) =>
  lastIterate({ beta, environment }, { recipe, groupSize, rates: [1, 4, 15, 60, 240] });

export default defineCheck({
  id: "nash-md",
  level: "shared",
  simpler: ["best response to the reference", "self-play"],
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
  method: arm(nashMd),
  notes:
    "The opponent's fixed share of the reference leaves a bias: self-play with the same penalty and no mixture comes nearer to the Nash policy of the regularised game. Without any penalty self-play runs away (more than 1 nat). So the mixture is not needed where the penalty damps the chase; the claim shown is the one against scores alone.",
  others: {
    "best response to the reference": arm(against("reference", beta)),
    "self-play": arm(against("policy", beta)),
  },
});
