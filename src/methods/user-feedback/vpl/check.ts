import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { posteriorOf, questionWorth, rewardOf, sampledTaste } from "./latentTaste.ts";
import { vplWith } from "./method.ts";
import {
  drawItem,
  hiddenTaste,
  type Item,
  type ItemVote,
  itemsOf,
  likingOf,
  tasteOf,
  tastes,
  vote,
} from "./tastes.ts";
import { fitTastes, type TasteModel, type VariationalPreferenceOptions } from "./variationalPreference.ts";

const kinds = 4;
const world = (seed: number) => tastes({ seed, users: 32, kinds });

/** Exact mean true reward of the policy's recommendations for the training users. */
const liked = (policy: Model, seed: number): Promise<number> =>
  meanOver(world(seed).tasks("train"), (task: Task) =>
    expectedValue(policy, task, Object.keys(itemsOf(task)), (word) =>
      likingOf(hiddenTaste(task), itemsOf(task)[word]!),
    ),
  );

/** A new user with one of the extreme tastes, and pairs that differ only in the contested trait. */
function stranger(random: Random) {
  const taste = tasteOf(random.below(2) * (kinds - 1), kinds);
  const pairs = Array.from({ length: 20 }, (): [Item, Item] => {
    const [a, b] = [drawItem(random), drawItem(random)];
    return [a, [b[0], a[1]]];
  });
  return { taste, pairs };
}

/** Accuracy on the user's true preference after this many questions, random or chosen. */
function accuracy(model: TasteModel, questions: number, chosen: boolean, random: Random): number {
  const { theta, sizes } = model;
  const { taste, pairs } = stranger(random);
  const votes: ItemVote[] = [];
  for (let asked = 0; asked < questions; asked++) {
    const candidates = Array.from({ length: 20 }, () => [drawItem(random), drawItem(random)] as const);
    const q = posteriorOf(theta, sizes, votes);
    const samples = Array.from({ length: 16 }, () =>
      sampledTaste(
        q,
        Float64Array.from(q.mean, () => random.normal()),
      ),
    );
    const worths = candidates.map((pair) => (chosen ? questionWorth(theta, sizes, pair, samples) : 0));
    const [first, second] = candidates[worths.indexOf(Math.max(...worths))]!;
    votes.push(vote(taste, first, second, random));
  }
  const z = posteriorOf(theta, sizes, votes).mean;
  return mean(
    pairs.map(([a, b]) => {
      const [said, true_] = [
        rewardOf(theta, sizes, a, z) - rewardOf(theta, sizes, b, z),
        likingOf(taste, a) - likingOf(taste, b),
      ];
      return Number(said > 0 === true_ > 0);
    }),
  );
}

/** The same fit as in training, evaluated on unseen users. */
function asked(options: VariationalPreferenceOptions, seed: number): Readonly<Record<string, number>> {
  const random = randomStream(seed).split("strangers");
  const people = world(seed)
    .tasks("train")
    .map((task) => task.metadata.votes as unknown as ItemVote[]);
  const model = fitTastes(people, random.split("fit"), options)!;
  const of = (questions: number, chosen: boolean): number =>
    mean(Array.from({ length: 50 }, (_, i) => accuracy(model, questions, chosen, random.split("one", i))));
  return {
    "1 question, drawn": of(1, false),
    "1 question, chosen": of(1, true),
    "4 drawn": of(4, false),
    "4 chosen": of(4, true),
  };
}

const arm = (what: string, options: VariationalPreferenceOptions): Arm =>
  trainingArm({
    what,
    recipe: vplWith(options),
    environment: world,
    engine: () =>
      tabularEngine({ context: "message", prior: (_context, word) => (/^i\d$/.test(word) ? 0 : -1e9) }),
    iterations: 21,
    settings: { ...plainAscent, tasks: 32, groupSize: 8 },
    grid: [30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => liked(policy, seed),
    more: (_done, seed) => asked(options, seed),
  });

export default defineCheck({
  id: "vpl",
  level: "table",
  claim:
    "With rewards that depend on a taste inferred from eight comparisons, users get what they like; one reward for all gives most what hardly any of them wants.",
  metric: "mean liking of what the trained policy gives, exact",
  direction: "higher",
  smallestEffect: 0.3,
  range: "unbounded",
  tuningSeeds: 2,
  baseline: arm("one reward for everybody", { latent: 0 }),
  method: arm("rewards by inferred taste", {}),
});
