/** A judge and a proposer whose rubrics are single features; they need no language model. */
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { RubricEdit, RubricJudge } from "../../../core/rubrics.ts";
import type { Proposer } from "../../../memory/rubrics/evolve.ts";

/** Named numbers of an item, such as how often each word stands in a reply. An absent one is 0. */
export type FeaturesOf<Item> = (item: Item) => ReadonlyMap<string, number>;

/** @param bias added to the score of the first item: the position bias of a judge. Default 0. */
export function featureJudge<Item>(features: FeaturesOf<Item>, bias = 0): RubricJudge<Item> {
  return ({ rubrics }) => ({
    name: "feature judge",
    score: async (candidates) =>
      candidates.map((item, place) => {
        const found = features(item);
        const sum = rubrics.reduce((total, { text }) => total + (found.get(text) ?? 0), 0);
        return { score: sigmoid(sum + (place === 0 ? bias : 0)) };
      }),
  });
}

/** Settings of {@link featureProposer}. */
export interface FeatureProposerOptions {
  /** Standard deviation of the normal noise on each feature's observed effect. Default 0. */
  readonly noise?: number;
  /** Share of the edits that add or delete a random feature. Default 0. */
  readonly random?: number;
}

/**
 * One edit: adds the feature that best separates the wrongly judged pairs, or deletes a feature that points the wrong way.
 *
 *     g[f] = mean over wrongly judged pairs of (better[f] − worse[f]) + noise
 *     add argmax g over features outside, or delete argmin g over those inside, whichever is larger in size
 *
 * Empty if no pair was judged wrongly, or no feature correlates with the errors.
 */
export function featureProposer<Item>(
  features: FeaturesOf<Item>,
  { noise = 0, random: atRandom = 0 }: FeatureProposerOptions = {},
): Proposer<Item> {
  return async ({ library, judged, random }) => {
    const inside = new Set(library.rubrics.map(({ text }) => text));
    const wrong = judged.filter(({ lead }) => lead <= 0);
    const sums = new Map<string, number>();
    for (const { pair } of judged)
      for (const item of [pair.better, pair.worse])
        for (const name of features(item).keys()) sums.set(name, 0);
    for (const { pair } of wrong)
      for (const [item, sign] of [
        [pair.better, 1],
        [pair.worse, -1],
      ] as const)
        for (const [name, value] of features(item))
          sums.set(name, sums.get(name)! + (sign * value) / wrong.length);
    const names = [...sums.keys()];
    if (names.length === 0) return [];
    if (random.split("whether").next() < atRandom) {
      const name = names[random.split("which").below(names.length)]!;
      return [inside.has(name) ? removal(name) : addition(name)];
    }
    const gains = names.map((name) => {
      const seen = sums.get(name)! + noise * random.split("noise", name).normal();
      return { name, gain: inside.has(name) ? -seen : seen };
    });
    const best = gains.reduce((a, b) => (b.gain > a.gain ? b : a));
    if (wrong.length === 0 || best.gain <= 0) return [];
    return [inside.has(best.name) ? removal(best.name) : addition(best.name)];
  };
}

const addition = (name: string): RubricEdit => ({
  kind: "add",
  rubric: { id: name, kind: "skill", text: name },
});
const removal = (id: string): RubricEdit => ({ kind: "delete", id });
