import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { type ActiveInputs, type InputPair, scoreInputs } from "../../../helper/rewardNetwork.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { type Aspects, aspects, type LabelledPair, type Reply } from "../../../worlds/aspects.ts";
import { fitReward, sizesOf, type TreatedFitOptions, treatedFit } from "./fit.ts";

const [places, values] = [8, 3];
const [pairs, steps, batch, units] = [400, 400, 32, 32];
const world = (seed: number) => aspects({ places, values, quality: 0.6, coherence: 0.6, seed });
/** A fifth of the labels is reversed, a fifth is a coin, and the rest are an annotator's. */
const labelling = { coins: 0.2, flips: 0.2 } as const;

/** A word for each place, and one for each pair of neighbours: the gold utility is linear in them. */
const inputs = places * values + (places - 1) * values * values;
const inputsOf = ({ values: said }: Reply): ActiveInputs => [
  ...said.map((value, p) => p * values + value),
  ...said.slice(1).map((value, p) => places * values + (p * values + said[p]!) * values + value),
];
const inputPair = ({ chosen, rejected }: LabelledPair): InputPair => ({
  better: inputsOf(chosen),
  worse: inputsOf(rejected),
});

/** Replies of a policy that has learnt: each the best of eight by gold. */
function shifted({ drawReply, goldOf }: Aspects, random: Random): Reply {
  const drawn = Array.from({ length: 8 }, () => drawReply(random));
  return drawn.reduce((best, reply) => (goldOf([], reply) > goldOf([], best) ? reply : best));
}

type Reward = (reply: Reply) => number;
type Fitted = (
  data: readonly InputPair[],
  unlabelled: readonly (readonly [ActiveInputs, ActiveInputs])[],
  random: Random,
  options: TreatedFitOptions,
) => { readonly reward: Reward; readonly flips?: readonly number[] };

const byNetwork = (theta: Float64Array): Reward => {
  const sizes = sizesOf(inputs, { units });
  return (reply) => scoreInputs(theta, sizes, inputsOf(reply)).reward;
};

const arm = (what: string, fit: Fitted): Arm => ({
  what,
  grid: [1, 3, 10, 30, 100].map((weightDecay) => ({ weightDecay })),
  async measure({ weightDecay }, seed) {
    const random = randomStream(seed);
    const here = world(seed);
    const { drawReply, goldOf, label } = here;
    const data = Array.from({ length: pairs }, (_, i) => {
      const own = random.split("pair", i);
      return label([], drawReply(own), drawReply(own), own, labelling);
    });
    const unlabelled = Array.from({ length: pairs }, (_, i) => {
      const own = random.split("unlabelled", i);
      return [inputsOf(shifted(here, own)), inputsOf(shifted(here, own))] as const;
    });
    const options = { units, steps, batch, learningRate: 0.03, weightDecay: Number(weightDecay) };
    const { reward, flips } = fit(data.map(inputPair), unlabelled, random.split("fit"), options);
    const accuracy = (draw: (own: Random) => Reply, key: string): number =>
      mean(
        Array.from({ length: 2000 }, (_, i) => {
          const own = random.split(key, i);
          const [a, b] = [draw(own), draw(own)];
          return Number(reward(a) > reward(b) === goldOf([], a) > goldOf([], b));
        }),
      );
    return {
      value: accuracy(drawReply, "fresh"),
      cost: { episodes: pairs, tokens: pairs * 2 * places },
      more: {
        "accuracy on replies of a better policy": accuracy((own) => shifted(here, own), "shifted"),
        ...(flips && {
          "share of flipped labels": flips.length / pairs,
          "share of flips that were wrong labels": mean(flips.map((i) => Number(data[i]!.margin < 0))),
        }),
      },
    };
  },
});

const plain = { members: 0, contrast: 0, meta: 0 } as const;
const members = 6;
const treatedArm = (what: string, change: TreatedFitOptions): Arm =>
  arm(what, (data, unlabelled, random, options) => {
    const all = { members, ...options, ...change };
    const { theta, treated } = treatedFit(inputs, data, unlabelled, random, all);
    const flips = treated.flatMap(({ flipped }, i) => (flipped ? [i] : []));
    return { reward: byNetwork(theta), ...(treated.length > 0 && { flips }) };
  });

export default defineCheck({
  id: "secrets-rm",
  level: "shared",
  claim:
    "From noisy comparisons, a reward model with labels treated by preference strength, contrast and MetaRM ranks fresh replies better than one with the labels as they are.",
  metric: "share of fresh pairs of replies that the reward model ranks as gold does",
  direction: "higher",
  smallestEffect: 0.01,
  range: [0, 1],
  simpler: ["baseline", "doubt", "mean"],
  notes:
    "A first design with decays from 0.3 to 30 was inconclusive (0.743 against 0.755 in 20 seeds), with the best decay of the labels as they are at the grid's edge: a strong decay undoes noisy labels too. Flips alone gave all of the gain (0.757), with 80 % of them wrong labels, and the mean of as many networks as the ensemble has gave more (0.762). Contrast and MetaRM have little to do here: the inputs are the words that the gold utility is linear in, so that there are no features to separate, and replies of the better policy have the same words.",
  baseline: treatedArm("labels as they are", plain),
  method: treatedArm("strength, contrast and MetaRM", {}),
  others: {
    strength: treatedArm("strength alone: flips, soft labels and margins", { contrast: 0, meta: 0 }),
    flips: treatedArm("flips alone", { contrast: 0, meta: 0, soft: 0, margins: false }),
    contrast: treatedArm("contrast alone", { ...plain, contrast: 0.1 }),
    meta: treatedArm("MetaRM alone", { ...plain, meta: 0.1 }),
    doubt: arm("the same doubt of 0.3 about every label", (data, _unlabelled, random, options) => ({
      reward: byNetwork(
        fitReward(
          inputs,
          data.map((pair) => ({ ...pair, doubt: 0.3 })),
          [],
          random,
          { ...options, ...plain },
        ),
      ),
    })),
    mean: arm("mean of as many networks as the ensemble has", (data, _unlabelled, random, options) => {
      const all = Array.from({ length: 2 * members }, (_, m) =>
        byNetwork(fitReward(inputs, data, [], random.split("network", m), { ...options, ...plain })),
      );
      return { reward: (reply) => mean(all.map((one) => one(reply))) };
    }),
  },
});
