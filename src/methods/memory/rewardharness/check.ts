import { type Random, randomStream } from "../../../core/random.ts";
import type { RubricLibrary } from "../../../core/rubrics.ts";
import { begun, evolved, type Snapshot } from "../../../memory/rubrics/evolve.ts";
import { accuracyOf, judgedPairs, type LabelledPair } from "../../../memory/rubrics/orders.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { featureJudge, featureProposer } from "./features.ts";

type Item = ReadonlyMap<string, number>;

const names = Array.from({ length: 12 }, (_, i) => `f${i}`);
/** The features that decide people's preferences. */
const wanted = names.slice(0, 5);

/** Two items and a label: the sum of these features decides, with some noise. */
function labelled(random: Random): LabelledPair<Item> {
  const [a, b] = ["a", "b"].map((side) => {
    const luck = random.split(side);
    return new Map(names.map((name) => [name, luck.normal() / Math.SQRT2] as const));
  });
  const lead = wanted.reduce((sum, name) => sum + a!.get(name)! - b!.get(name)!, 0);
  const first = lead + 0.5 * random.split("noise").normal() > 0;
  return first ? { better: a!, worse: b! } : { better: b!, worse: a! };
}
const pairs = (count: number, random: Random): readonly LabelledPair<Item>[] =>
  Array.from({ length: count }, (_, i) => labelled(random.split("pair", i)));

/** A judge with position bias: without both orders this bias alone would cause errors. */
const judge = featureJudge<Item>((item) => item, 0.5);
const propose = featureProposer<Item>((item) => item, { noise: 0.2, random: 0.3 });
/** One right rubric and one wrong one. */
const first: RubricLibrary = {
  rubrics: ["f0", "f11"].map((id) => ({ id, kind: "skill", text: id })),
};

interface Rule {
  readonly margin: number;
  readonly deploys: "last" | "best";
}

const arm = (what: string, { margin, deploys }: Rule): Arm => ({
  what,
  grid: [{ margin: String(margin), deploys }],
  async measure(_choice, seed) {
    const random = randomStream(seed).split("rewardharness");
    const [train, validation] = [pairs(60, random.split("train")), pairs(40, random.split("validation"))];
    const options = { judge, propose, margin };
    let state = await begun(first, validation, options);
    for (let edit = 0; edit < 40; edit++)
      state = await evolved(state, train, validation, options, random.split("edit", edit));
    const test = pairs(4000, random.split("test"));
    const truly = async ({ library }: Snapshot): Promise<number> =>
      accuracyOf(await judgedPairs(judge(library), test));
    const deployed = deploys === "best" ? state.best : state.current;
    return {
      value: await truly(deployed),
      cost: { episodes: 40, tokens: 0 },
      more: { validation: deployed.accuracy, rubrics: deployed.library.rubrics.length },
    };
  },
});

const everything = Number.POSITIVE_INFINITY;

export default defineCheck({
  id: "rewardharness",
  level: "law",
  simpler: ["snapshot"],
  claim:
    "A library whose edits pass a gate with a margin, deployed at its best snapshot, judges better than one that keeps every edit.",
  metric: "share of 4000 hidden pairs judged as labelled, after 40 edits",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 3,
  notes:
    "The judge is a sum of features and what proposes edits sees the errors through noise, as in a small simulation of the mechanism. On other seeds the best snapshot did all of the work: with it, keeping every edit came to the same as a gate with or without a margin, and only a gate that demands a gain stalled.",
  baseline: arm("every edit kept, the last library deployed", { margin: everything, deploys: "last" }),
  method: arm("a gate of 0.075, the best snapshot deployed", { margin: 0.075, deploys: "best" }),
  others: {
    snapshot: arm("every edit kept, the best snapshot deployed", { margin: everything, deploys: "best" }),
    strict: arm("no fall allowed", { margin: 0, deploys: "best" }),
    gain: arm("a gain required", { margin: -0.025, deploys: "best" }),
  },
});
