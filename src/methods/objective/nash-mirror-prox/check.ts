import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { against, lastIterate } from "../../../worlds/arms/preferences.ts";
import { preferenceGame } from "../../../worlds/preferenceGame.ts";
import { findMethod } from "../../catalogue.ts";
import { nashMirrorProx } from "./method.ts";

const beta = 0.1;
const environment = (seed: number) =>
  preferenceGame({ seed, questions: 4, replies: 5, strength: [0.9, 0.9] });

const arm = (recipe: Recipe) => lastIterate({ beta, environment }, { recipe, rates: [2, 6, 20, 60, 200] });

export default defineCheck({
  id: "nash-mirror-prox",
  level: "shared",
  simpler: ["self-play"],
  claim:
    "With as many comparisons, the last policy of Nash mirror prox is nearer to the Nash policy of the regularised game than that of Nash-MD.",
  metric: "divergence from the regularised Nash policy after 100 updates, nats, exact",
  direction: "lower",
  smallestEffect: 0.01,
  range: "unbounded",
  tuningSeeds: 2,
  baseline: arm(findMethod("nash-md")),
  method: arm(nashMirrorProx),
  notes:
    "Self-play with the same penalty, tuned, comes as near as mirror prox or nearer: at this weight of the penalty the game turns little, and what is left is the noise of sampling. The gain over Nash-MD is that the target leaves no bias, where the fixed share of the reference in Nash-MD's opponent does.",
  others: { "self-play": arm(against("policy", beta)) },
});
