import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { expectedValue } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { wordGrams } from "../../../helper/wordGrams.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { rlufWith } from "./method.ts";
import { reactionChange } from "./reactionChange.ts";
import { reactionModel } from "./reactionModel.ts";
import { loveOf, reactions, type Style, styledReplies, styleOf, utilityOf } from "./reactions.ts";

const world = (seed: number) => reactions({ seed, questions: 8 });
const words = /^(right|clear|sweet)\d$/;

/** Exact mean over replies of the policy, which ignores the question. */
const meanOf = (policy: Model, seed: number, value: (q: Style) => number): Promise<number> =>
  expectedValue(policy, world(seed).tasks("train")[0]!, styledReplies, (reply) => value(styleOf(reply)!));

/** Replies of the initial, uniform policy, and whether they got a reaction. */
function logOf(random: Random) {
  return Array.from({ length: 1000 }, () => {
    const reply = styledReplies[random.below(styledReplies.length)]!;
    return { x: wordGrams(reply.split(" ")), y: random.next() < loveOf(styleOf(reply)!) ? 1 : 0, weight: 1 };
  });
}

/** Predictions of a reaction model trained only on a log: the forecast before a launch. */
async function predictedFrom(log: ReturnType<typeof logOf>): Promise<(q: Style) => number> {
  const model = reactionModel({ strength: 1e-4, passes: 500 })(randomStream(1));
  await model.fit(log);
  const chances = await model.predict(styledReplies.map((reply) => wordGrams(reply.split(" "))));
  return ({ right, clear, sweet }) => chances[16 * right + 4 * clear + sweet]!;
}

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

/** @param love weight of the predicted reactions; the judge has the rest. */
const arm = (what: string, love: number): Arm =>
  trainingArm({
    what,
    recipe: rlufWith({ weights: { love, helpfulness: 1 - love } }),
    environment: world,
    engine,
    iterations: 51,
    settings: { ...plainAscent, tasks: 8, groupSize: 8 },
    grid: [2, 8, 32, 128, 512].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => meanOf(policy, seed, utilityOf),
    more: async ({ policy }, seed) => {
      const predicted = await predictedFrom(logOf(randomStream(seed).split("log")));
      const tasks = world(seed).tasks("train");
      const now = tasks.map((task) =>
        expectedValue(policy, task, styledReplies, (reply) => predicted(styleOf(reply)!)),
      );
      const before = mean(styledReplies.map((reply) => predicted(styleOf(reply)!)));
      const foreseen = reactionChange(
        await Promise.all(now),
        tasks.map(() => before),
      );
      const rate = await meanOf(policy, seed, loveOf);
      return {
        "reaction rate": rate,
        "reaction rate, change": rate - mean(styledReplies.map((reply) => loveOf(styleOf(reply)!))),
        "reaction rate, change foreseen": foreseen.mean,
      };
    },
  });

export default defineCheck({
  id: "rluf",
  level: "table",
  claim:
    "With predicted reactions at a moderate weight beside a judge's reward, replies do users more good than with the judge alone.",
  metric: "true utility of a reply, exact, −2.25 to 6",
  direction: "higher",
  smallestEffect: 0.3,
  range: [-2.25, 6],
  tuningSeeds: 2,
  baseline: arm("the judge's reward alone", 0),
  method: arm("reactions at weight 0.3", 0.3),
  others: {
    most: arm("reactions at weight 0.75", 0.75),
    alone: arm("reactions alone", 1),
  },
});
