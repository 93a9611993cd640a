import { preferenceGame } from "../../src/env/preferenceGame.ts";
import type { Recipe } from "../../src/method/method.ts";
import { nashMd } from "../../src/method/objective/nash-md.ts";
import { nashMirrorProx } from "../../src/method/objective/nash-mirror-prox.ts";
import { defineCheck } from "../../src/train/check.ts";
import { against, lastIterate } from "./_preferences.ts";

const beta = 0.1;
const environment = (seed: number) =>
  preferenceGame({ seed, questions: 4, replies: 5, strength: [0.9, 0.9] });

const arm = (recipe: Recipe) => lastIterate({ beta, environment }, { recipe, rates: [2, 6, 20, 60, 200] });

export default defineCheck({
  id: "nash-mirror-prox",
  claim:
    "With as many comparisons, the last policy of Nash mirror prox is nearer to the Nash policy of the regularised game than that of Nash-MD.",
  metric: "divergence from the regularised Nash policy after 100 updates, nats, exact",
  direction: "lower",
  smallestEffect: 0.01,
  tuningSeeds: 2,
  baseline: arm(nashMd),
  method: arm(nashMirrorProx),
  notes:
    "Self-play with the same penalty, tuned, comes as near as mirror prox or nearer: at this weight of the penalty the game turns little, and what is left is the noise of sampling. The gain over Nash-MD is that the target leaves no bias, where the fixed share of the reference in Nash-MD's opponent does.",
  others: { "self-play": arm(against("policy", beta)) },
});
