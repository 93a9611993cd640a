import { z } from "zod";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import type { ComparedExchanges, Exchanged } from "../../../helper/bradleyTerry.ts";
import { damagedState, savedState } from "../../../helper/savedState.ts";
import { fitGoalReward, type GoalRewardOptions, sizesOf, type TokenPair } from "./fit.ts";
import { recurrentLength, rewardAt, statesOf } from "./recurrent.ts";

const wordsIn = (text: string): readonly string[] => text.match(/\S+/g) ?? [];
/** Stands before the first word, so that no text is empty. */
const begin = 0;

/**
 * A recurrent reward network on words that is fitted to comparisons by `fitGoalReward`. It reads the request, then the reply. Rows
 * without a label (y null) or without `second` are ignored. Each fit starts anew, on the words of its comparisons; other words are
 * skipped. `predict` gives the reward of `first`, less that of `second` where there is one; NaN before the first fit with a comparison.
 */
export const goalReward =
  (options: GoalRewardOptions = {}) =>
  (random: Random): StatefulHelper<ComparedExchanges, number | null, number> => {
    let names: ReadonlyMap<string, number> = new Map();
    let theta: Float64Array = new Float64Array(0);
    let fits = 0;
    const numbered = (words: readonly string[]) => new Map(words.map((word, i) => [word, i + 1]));
    const known = (text: string): readonly number[] => wordsIn(text).flatMap((word) => names.get(word) ?? []);
    const tokensOf = ({ asked, replied }: Exchanged): readonly number[] => [
      begin,
      ...known(asked),
      ...known(replied),
    ];
    return {
      async fit(rows) {
        const compared = rows.flatMap(({ x: { first, second }, y }) =>
          y === null || !second ? [] : [{ first, second, y }],
        );
        if (compared.length === 0) return { rows: 0 };
        const texts = compared.flatMap(({ first, second }) => [first, second]);
        names = numbered([
          ...new Set(texts.flatMap(({ asked, replied }) => [...wordsIn(asked), ...wordsIn(replied)])),
        ]);
        const pairs = compared.map(({ first, second, y }): TokenPair => {
          const [better, worse] = y >= 0.5 ? [first, second] : [second, first];
          const given = 1 + known(better.asked).length;
          return {
            better: tokensOf(better),
            worse: tokensOf(worse),
            given,
            doubt: Math.min(y, 1 - y),
          };
        });
        theta = fitGoalReward(names.size + 1, pairs, random.split("fit", fits++), options);
        return { rows: pairs.length };
      },
      async predict(xs) {
        if (names.size === 0) return xs.map(() => Number.NaN);
        const sizes = sizesOf(names.size + 1, options);
        const reward = (exchange: Exchanged): number =>
          rewardAt(theta, sizes, statesOf(theta, sizes, tokensOf(exchange)).at(-1)!);
        return xs.map(({ first, second }) => reward(first) - (second ? reward(second) : 0));
      },
      save: () => ({ words: [...names.keys()], theta: [...theta], fits }),
      load(state) {
        const read = savedState(saved, state, inWords);
        const { words } = read;
        const expected = words.length === 0 ? 0 : recurrentLength(sizesOf(words.length + 1, options));
        if (read.theta.length !== expected) throw damagedState(inWords);
        names = numbered(words);
        theta = Float64Array.from(read.theta);
        fits = read.fits;
      },
    };
  };

const saved = z.object({ words: z.array(z.string()), theta: z.array(z.number()), fits: z.number().int() });

const inWords = {
  where: "goalReward",
  expected: "words and the weights of a network on them",
  fix: "Resume with the method and the settings that saved it.",
} as const;
