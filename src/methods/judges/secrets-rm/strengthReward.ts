import { z } from "zod";
import type { StatefulHelper } from "../../../core/context.ts";
import type { Random } from "../../../core/random.ts";
import type { ComparedExchanges, Exchanged } from "../../../helper/bradleyTerry.ts";
import { crossedWords } from "../../../helper/crossedWords.ts";
import {
  type ActiveInputs,
  type InputPair,
  networkLength,
  scoreInputs,
} from "../../../helper/rewardNetwork.ts";
import { damagedState, savedState } from "../../../helper/savedState.ts";
import { sizesOf, type TreatedFitOptions, treatedFit } from "./fit.ts";

const featuresOf = ({ asked, replied }: Exchanged): readonly string[] =>
  Object.keys(crossedWords(asked, replied));

/**
 * A reward network on crossed words that is fitted to comparisons by `treatedFit`. Rows with y null are the unlabelled pairs of the
 * current policy. Each fit starts anew, on all features of its comparisons; what no comparison had is ignored. `predict` gives the
 * reward of `first`, less that of `second` where there is one; NaN before the first fit with a comparison.
 * `fit` reports `rows`, `flipped` and `doubted`, shares of the comparisons.
 */
export const strengthReward =
  (options: TreatedFitOptions = {}) =>
  (random: Random): StatefulHelper<ComparedExchanges, number | null, number> => {
    let names: ReadonlyMap<string, number> = new Map();
    let theta: Float64Array = new Float64Array(0);
    let fits = 0;
    const active = (exchange: Exchanged): ActiveInputs =>
      featuresOf(exchange).flatMap((name) => names.get(name) ?? []);
    return {
      async fit(rows) {
        const compared = rows.flatMap(({ x: { first, second }, y }) =>
          y === null || !second ? [] : [{ first, second, y }],
        );
        if (compared.length === 0) return { rows: 0 };
        const words = compared.flatMap(({ first, second }) => [...featuresOf(first), ...featuresOf(second)]);
        names = new Map([...new Set(words)].map((name, i) => [name, i]));
        const pairs = compared.map(({ first, second, y }): InputPair => {
          const [a, b] = [active(first), active(second)];
          return y >= 0.5 ? { better: a, worse: b, doubt: 1 - y } : { better: b, worse: a, doubt: y };
        });
        const unlabelled = rows.flatMap(({ x: { first, second }, y }) =>
          y === null && second ? [[active(first), active(second)] as const] : [],
        );
        const fitted = treatedFit(names.size, pairs, unlabelled, random.split("fit", fits++), options);
        theta = fitted.theta;
        const share = (is: (t: (typeof fitted.treated)[number]) => boolean): number =>
          fitted.treated.filter(is).length / pairs.length;
        return {
          rows: pairs.length,
          flipped: share(({ flipped }) => flipped),
          doubted: share(({ doubt }) => doubt > 0),
        };
      },
      async predict(xs) {
        if (names.size === 0) return xs.map(() => Number.NaN);
        const sizes = sizesOf(names.size, options);
        const reward = (exchange: Exchanged): number => scoreInputs(theta, sizes, active(exchange)).reward;
        return xs.map(({ first, second }) => reward(first) - (second ? reward(second) : 0));
      },
      save: () => ({ names: [...names.keys()], theta: [...theta], fits }),
      load(state) {
        const read = savedState(saved, state, inWords);
        if (
          read.theta.length !==
          (read.names.length === 0 ? 0 : networkLength(sizesOf(read.names.length, options)))
        )
          throw damagedState(inWords);
        names = new Map(read.names.map((name, i) => [name, i]));
        theta = Float64Array.from(read.theta);
        fits = read.fits;
      },
    };
  };

const saved = z.object({ names: z.array(z.string()), theta: z.array(z.number()), fits: z.number().int() });

const inWords = {
  where: "strengthReward",
  expected: "feature names and the weights of a network on them",
  fix: "Resume with the method and the settings that saved it.",
} as const;
