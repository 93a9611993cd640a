import type { Model } from "../../src/core/model.ts";
import { expectedValue } from "../../src/diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import {
  loveOf,
  type Qualities,
  qualitiesOf,
  reactions,
  styledReplies,
  utilityOf,
} from "../../src/env/reactions.ts";
import { rlufWith } from "../../src/method/user-feedback/rluf.ts";
import { type Arm, armOf, defineCheck, plainAscent } from "../../src/train/index.ts";

const world = (seed: number) => reactions({ seed, questions: 8 });
const words = /^(right|clear|sweet)\d$/;

/** Exact mean over replies of the policy; it says the same whatever is asked. */
const meanOf = (policy: Model, seed: number, value: (q: Qualities) => number): Promise<number> =>
  expectedValue(policy, world(seed).tasks("train")[0]!, styledReplies, (reply) => value(qualitiesOf(reply)!));

/** One softmax for each of the three words; a reply has one of each kind, in order. */
const engine = () =>
  tabularEngine({
    context: "message",
    prior: (context, word) => {
      const next = ["right", "clear", "sweet"][context.filter((said) => words.test(said)).length];
      return next === undefined ? (word === "<end>" ? 0 : -1e9) : word.startsWith(next) ? 0 : -1e9;
    },
    features: (context) => [`after ${context.filter((said) => words.test(said)).length}`],
  });

/** @param love weight of the predicted reactions; the rest is the judge's. */
const arm = (what: string, love: number): Arm =>
  armOf({
    what,
    recipe: rlufWith({ weights: { love, helpfulness: 1 - love } }),
    environment: world,
    engine,
    iterations: 121,
    settings: { ...plainAscent, tasks: 8, groupSize: 8 },
    grid: [0.2, 0.5, 1, 2, 4].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => meanOf(policy, seed, utilityOf),
    more: async ({ policy }, seed) => ({ "reaction rate": await meanOf(policy, seed, loveOf) }),
  });

export default defineCheck({
  id: "rluf",
  claim:
    "With predicted reactions at a moderate weight beside a judge's reward, replies do users more good than with the judge alone.",
  metric: "true utility of a reply, exact, −2.25 to 6",
  direction: "higher",
  smallestEffect: 0.3,
  tuningSeeds: 2,
  baseline: arm("the judge's reward alone", 0),
  method: arm("reactions at weight 0.3", 0.3),
  others: {
    most: arm("reactions at weight 0.75", 0.75),
    alone: arm("reactions alone", 1),
  },
});
