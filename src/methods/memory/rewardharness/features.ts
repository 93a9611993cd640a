/** A judge and a proposer whose rubrics are single features: what can be worked out without a language model. */
import { sigmoid } from "../../../common/statistics/logistic.ts";
import type { RubricEdit, RubricJudge } from "../../../core/rubrics.ts";
import type { Proposer } from "../../../memory/rubrics/evolve.ts";

/** Named numbers of an item, such as how often each word stands in a reply. An absent one is 0. */
export type FeaturesOf<Item> = (item: Item) => ReadonlyMap<string, number>;

/** @param bias added to the sum of whoever is shown first: the habit of a judge that looks at places. Default 0. */
export function featureJudge<Item>(features: FeaturesOf<Item>, bias = 0): RubricJudge<Item> {
  return async ({ rubrics }, candidates) =>
    candidates.map((item, place) => {
      const found = features(item);
      const sum = rubrics.reduce((total, { text }) => total + (found.get(text) ?? 0), 0);
      return sigmoid(sum + (place === 0 ? bias : 0));
    });
}

/** Settings of {@link featureProposer}. */
export interface FeatureProposerOptions {
  /** Deviation of the normal noise on what is seen of each feature. Default 0. */
  readonly noise?: number;
  /** Share of the edits that put in, or take out, a feature drawn at random. Default 0. */
  readonly random?: number;
}

/**
 * One edit: the feature that goes best with the errors is put in, or, where it is in and goes against them, taken out.
 *
 *     g[f] = mean over wrongly judged pairs of (better[f] − worse[f]) + noise
 *     add argmax g over features outside, or delete argmin g over those inside, whichever is larger in size
 *
 * Nothing where no pair was judged wrongly, or nothing goes with the errors.
 */
export function featureProposer<Item>(
  features: FeaturesOf<Item>,
  { noise = 0, random: atRandom = 0 }: FeatureProposerOptions = {},
): Proposer<Item> {
  return async ({ library, verdicts, random }) => {
    const inside = new Set(library.rubrics.map(({ text }) => text));
    const wrong = verdicts.filter(({ lead }) => lead <= 0);
    const sums = new Map<string, number>();
    for (const { pair } of verdicts)
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
