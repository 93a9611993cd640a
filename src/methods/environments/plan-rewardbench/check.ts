import type { TrajectoryPair } from "../../../common/tokens/pairs.ts";
import { type Attempt, scorer } from "../../../core/evaluator.ts";
import type { Trajectory } from "../../../core/types.ts";
import { accuracy, labelPairs, repliesIn } from "../../../diagnose/pairLabels.ts";
import { trajectoryPairs } from "../../../env/toolWorld/pairs.ts";
import type { Features } from "../../../helper/ridge.ts";
import { wordGrams } from "../../../helper/wordGrams.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { bradleyTerry, featureDifference } from "./bradleyTerry.ts";

/** Number of look-ups in the training trajectories; number of training and of test pairs. */
const [short, training, testing] = [3, 400, 300];

/** Refusals are always one word long. */
const families = { planning: 1, recovery: 1, irrelevance: 1, safety: 0 };

const pairsFrom = (source: "rule" | "natural", blocks: number, count: number, seed: number) =>
  trajectoryPairs({
    count,
    blocks: [blocks],
    seed,
    families,
    sources: { natural: 0, rule: 0, edit: 0, [source]: 1 },
  });

/** Mean-pooled features, scaled for a step size of 0.05. */
const featuresOf = (t: Trajectory): Features =>
  wordGrams(
    repliesIn(t).flatMap((text) => [...text.split(" "), ";"]),
    30,
  );

/** Pairs each better trajectory with the worse one of another task: only family mix and length are shared. */
const acrossTasks = (pairs: readonly TrajectoryPair[]): TrajectoryPair[] =>
  pairs.map((pair, i) => ({ ...pair, rejected: pairs[(i + 1) % pairs.length]!.rejected }));

const arm = (what: string, blocks: number): Arm => ({
  what,
  grid: [0.01, 0.03, 0.1, 0.3, 1].map((strength) => ({ strength })),
  async measure({ strength }, seed) {
    const model = bradleyTerry({ strength: Number(strength), passes: 80 })();
    const learnt = pairsFrom("rule", short, training, 2 * seed);
    const row = ({ chosen, rejected }: TrajectoryPair) => ({
      x: featureDifference(featuresOf(chosen), featuresOf(rejected)),
      y: 1,
      weight: 1,
    });
    const fitted = await model.fit(learnt.map(row));
    const rewardModel = scorer<Attempt>(
      "Bradley–Terry",
      async ({ trajectory }) => (await model.predict([featuresOf(trajectory)]))[0],
    );
    const rightOn = async (pairs: readonly TrajectoryPair[]): Promise<number> =>
      accuracy((await labelPairs(pairs, rewardModel)).labels);
    const natural = pairsFrom("natural", blocks, testing, 2 * seed + 1);
    return {
      value: await rightOn(acrossTasks(natural)),
      cost: { episodes: 2 * training, tokens: 0 },
      more: {
        "natural pairs of one task": await rightOn(natural),
        "paired edits": await rightOn(pairsFrom("rule", blocks, testing, 2 * seed + 1)),
        "paired edits learnt from": fitted.accuracy ?? Number.NaN,
      },
    };
  },
});

export default defineCheck({
  id: "plan-rewardbench",
  level: "shared",
  claim:
    "A reward model fitted on short pairs tells right from wrong in independent episodes better at that length than at four times it.",
  metric: "accuracy on pairs of independent episodes of equal length, both orders",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm("trajectories of 12 look-ups", 4 * short),
  method: arm("trajectories of 3 look-ups, as in training", short),
  notes:
    "On trial seeds (600 pairs to learn from, 400 to test on) accuracy on independent episodes fell from 0.71 to 0.66, while on two attempts at one task (0.74 and 0.74) and on paired edits (0.83 and 0.84) it did not fall at all: what two trajectories have in common cancels. Paired edits that change an argument or a result stay at chance at every length, since a bag of word pairs cannot know which is right; all other edits are told nearly always. So no sharp fall is seen here, but a small one where nothing cancels.",
});
