import { sigmoid } from "../../../common/statistics/logistic.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { type ObservationalRewardOptions, observationalReward } from "../../../helper/observationalReward.ts";
import type { Features } from "../../../helper/ridge.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";

/** A served item, good with probability σ(3 (x₁ + 0.8 (x₂² − 1))); x₁ and x₂ uniform in [−2, 2]. */
function served(random: Random) {
  const [x1, x2] = [4 * random.next() - 2, 4 * random.next() - 2];
  const margin = x1 + 0.8 * (x2 ** 2 - 1);
  const worth = sigmoid(3 * margin);
  return { x1, x2, margin, worth, good: random.next() < worth };
}

/** Clearly satisfied users give feedback, others rarely, at a rate that depends on the item. */
const speaks = ({ margin, x2 }: ReturnType<typeof served>): number =>
  margin > 1 ? 0.8 : x2 > 0 ? 0.3 : 0.08;
/** Wrong clicks: bad called good, good called bad. */
const flips = { up: 0.1, down: 0.3 };
const items = 1500;

/** Too few features for the truth, as those of a reward model are: what it is fitted on decides where it errs. */
const features = ({ x1, x2 }: ReturnType<typeof served>): Features => ({ x1, x2 });

const arm = (what: string, options: ObservationalRewardOptions): Arm => ({
  what,
  grid: [0.003, 0.01, 0.03, 0.1].map((learningRate) => ({ learningRate })),
  async measure(choice, seed) {
    const random = randomStream(seed);
    const rows = Array.from({ length: items }, (_, i) => {
      const own = random.split("item", i);
      const item = served(own);
      const spoke = own.next() < speaks(item);
      const wrong = own.next() < (item.good ? flips.down : flips.up);
      return { x: features(item), y: spoke ? Number(item.good !== wrong) : null, weight: 1 };
    });
    const reward = observationalReward({
      ...options,
      strength: 1e-4,
      learningRate: Number(choice.learningRate),
    })();
    const stats = await reward.fit(rows);
    const fresh = Array.from({ length: items }, (_, i) => served(random.split("fresh", i)));
    const said = await reward.predict(fresh.map(features));
    return {
      value: mean(said.map((r, i) => (r - fresh[i]!.worth) ** 2)),
      cost: { episodes: items, tokens: 0 },
      more: {
        accuracy: mean(said.map((r, i) => Number(r > 0.5 === fresh[i]!.worth > 0.5))),
        "best of four": chosen(said, fresh),
        ...stats,
      },
    };
  },
});

/** How good on average the item is that the reward prefers of four: what a policy gains that follows it. */
function chosen(said: readonly number[], items: readonly ReturnType<typeof served>[]): number {
  const picks = Array.from({ length: Math.floor(said.length / 4) }, (_, n) => {
    const four = said.slice(4 * n, 4 * n + 4);
    return items[4 * n + four.indexOf(Math.max(...four))]!.worth;
  });
  return mean(picks);
}

/** A constant propensity: the overall feedback rate. */
const constantPropensity: ObservationalRewardOptions["propensity"] = () => {
  let share = 1;
  return {
    async fit(rows) {
      share = mean(rows.map(({ y }) => y));
      return {};
    },
    predict: async (xs) => xs.map(() => share),
  };
};

export default defineCheck({
  id: "causalrm",
  level: "table",
  simpler: ["baseline", "silence alone", "as it is", "propensity unknown"],
  claim:
    "From feedback that is wrong now and then and comes from those who feel strongly, a reward model too small for the truth gets nearer to it by correcting for both than for the wrong clicks alone.",
  metric:
    "mean squared error of the reward against the true chance of being good, on items as they are served",
  direction: "lower",
  smallestEffect: 0.02,
  range: "unbounded",
  notes:
    "Flip rates and propensities are both estimated here. In the first design the opponent was feedback as it is (0.067 against 0.009), and the features held the truth exactly: then silence hides nothing that the model needs, and the correction of flips alone did as well (0.009). That world had been made smooth so that rates of wrong clicks could be read off the surest tenth; it still is. Here x₂² is missing. With step sizes from 0.03 on, where both arms did best at the smallest, the second design found no gain either (0.088 against 0.083; feedback as it is 0.100, silence alone 0.096): a line errs at both ends, where the surest answers lie, so that rates of wrong clicks are read too high (0.2 in place of 0.1), and the propensities of such a line are wrong too. Items are features and not texts, and no policy is trained on the reward, only the best of four chosen by it: docs/closed-loop.md trains one.",
  baseline: arm("flips from anchors, silence ignored", { selection: "none" }),
  method: arm("flips from anchors, doubly robust against silence", {}),
  others: {
    "as it is": arm("feedback as it is", { flips: "none", selection: "none" }),
    "silence alone": arm("inverse propensities, clicks as they are", { flips: "none", selection: "inverse" }),
    "propensity unknown": arm("flips from anchors, one chance of feedback for all", {
      propensity: constantPropensity,
    }),
  },
});
