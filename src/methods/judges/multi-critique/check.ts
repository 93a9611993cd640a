import { randomStream } from "../../../core/random.ts";
import { bradleyTerry } from "../../../helper/bradleyTerry.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { fitFocal } from "./critiqueModel.ts";
import { critiquesOf, type TextCritique } from "./texts.ts";
import { checkedPairs, critiqueScore, mergedUnits } from "./units.ts";

const [texts, fresh] = [60, 300] as const;
type Scored = TextCritique & { readonly score: number };
type Pairing = (critiques: readonly TextCritique[]) => readonly (readonly [TextCritique, TextCritique])[];

const scored = (critiques: readonly TextCritique[], missed: number): readonly Scored[] => {
  const merged = mergedUnits(critiques.map(({ units }) => units));
  return critiques.map((c) => ({ ...c, score: critiqueScore(c.units, merged, { missed }) }));
};
const exchange = ({ asked, replied }: TextCritique) => ({ asked, replied });

/** A reward model of pairs of critiques on 60 texts; the value is how often it orders critiques on fresh texts as their worth does. */
const arm = (what: string, pairing: Pairing, gamma = 2): Arm => ({
  what,
  grid: [1e-3, 1e-2, 0.1, 0.3].map((strength) => ({ strength })),
  async measure({ strength }, seed) {
    const pairs = Array.from({ length: texts }, (_, i) => pairing(critiquesOf(seed, i))).flat();
    const model = bradleyTerry({ strength: Number(strength), passes: 100 })(randomStream(seed).split("fit"));
    const compared = pairs.map(([better, worse]) => ({ first: exchange(better), second: exchange(worse) }));
    // the first fit has equal weights, the next ones weigh by what the model says
    for (let round = 0; round < 2; round++) await fitFocal(model, compared, gamma);
    const others = Array.from({ length: fresh }, (_, i) => critiquesOf(seed, `fresh ${i}`)).flatMap(
      ([a, b]) => (a!.worth === b!.worth ? [] : [[a!, b!] as const]),
    );
    const said = await model.predict(others.map(([a, b]) => ({ first: exchange(a), second: exchange(b) })));
    const right = others.map(([a, b], i) =>
      said[i] === 0 ? 0.5 : Number(said[i]! > 0 === a.worth > b.worth),
    );
    const truly = pairs.filter(([better, worse]) => better.worth > worse.worth).length;
    return {
      value: right.reduce((sum, x) => sum + x / right.length, 0),
      cost: { episodes: texts, tokens: 0 },
      more: { pairs: pairs.length, "share of pairs in true order": truly / pairs.length },
    };
  },
});

const judged =
  (check: boolean, missed = 0.5): Pairing =>
  (critiques) =>
    checkedPairs(scored(critiques, missed), check);

export default defineCheck({
  id: "multi-critique",
  level: "table",
  claim:
    "A reward model of pairs of critiques that a meta-judge and the revisions agree on orders critiques better than one of all pairs of the meta-judge.",
  metric: "share of pairs of critiques on fresh texts that the reward model orders as their worth does",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  simpler: ["baseline", "revised"],
  baseline: arm("all pairs of the meta-judge", judged(false)),
  method: arm("pairs that revisions confirm", judged(true)),
  others: {
    revised: arm("pairs by revisions alone", (critiques) =>
      checkedPairs(critiques.map((c) => ({ ...c, score: c.revised }))),
    ),
    "nothing missed": arm("confirmed pairs, without a penalty for what is missed", judged(true, 0)),
    plain: arm("confirmed pairs, each with the same weight", judged(true), 0),
  },
});
