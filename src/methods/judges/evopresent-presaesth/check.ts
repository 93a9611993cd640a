import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { type Random, randomStream, shuffled } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type EditedOptions, edited } from "./editLoop.ts";
import {
  defectNames,
  drawLayout,
  type Kind,
  type Layout,
  type Layouts,
  layoutFeatures,
  layoutPrior,
  layouts,
  questionOf,
  tolerance,
} from "./layouts.ts";
import { evopresentPresaesth } from "./method.ts";

const [drafts, most] = [50, 10];

/** Greedy answers of the trained critic. Without a skill it names all defects in random order, and prefers what has the higher score. */
function criticOf(policy: Model, skills: readonly Kind[], random: Random) {
  const answer = async (kind: Kind, first: Layout, second?: Layout): Promise<string> => {
    const prompt = policy.codec.open([{ role: "user", content: questionOf(kind, first, second) }]);
    const [sample] = await policy.sample([{ prompt, maxTokens: 6, temperature: 0, seed: 1 }]);
    return policy.codec.decode(sample!.action).trim();
  };
  let asked = 0;
  return {
    defects: async (layout: Layout) => {
      if (!skills.includes("defects")) return shuffled(defectNames, random.split(asked++));
      return (await answer("defects", layout)).split(" ").filter((word) => defectNames.includes(word));
    },
    prefersFirst: async (first: Layout, second: Layout) =>
      skills.includes("compare")
        ? (await answer("compare", first, second)) === "A"
        : Number(await answer("score", first)) > Number(await answer("score", second)),
  };
}

/** Turns the attribute of a defect over in half of the cases, else another one. */
const edit =
  (random: Random): EditedOptions<Layout>["edit"] =>
  async (layout, defect, attempt) => {
    const own = random.split("edit", attempt);
    const meant = own.next() < 0.5 ? Number(defect.slice(1)) : own.below(layout.length);
    return layout.map((on, a) => on !== (a === meant));
  };

/** Share of the rules that layouts keep after the loop. */
async function polished(policy: Model, world: Layouts, seed: number, skills: readonly Kind[]) {
  const done = await Promise.all(
    Array.from({ length: drafts }, async (_, d) => {
      const random = randomStream(seed).split("draft", d);
      const critic = criticOf(policy, skills, random.split("critic"));
      return edited(drawLayout(random), { critic, edit: edit(random), most });
    }),
  );
  return {
    kept: mean(done.map(({ artefact }) => world.qualityOf(artefact) / defectNames.length)),
    edits: mean(done.map(({ edits }) => edits)),
  };
}

const arm = (what: string, skills: readonly Kind[]): Arm => {
  const known = new WeakMap<Model, ReturnType<typeof polished>>();
  const measured = (policy: Model, seed: number) => {
    const found = known.get(policy) ?? polished(policy, layouts({ seed }), seed, skills);
    known.set(policy, found);
    return found;
  };
  return trainingArm({
    what,
    recipe: evopresentPresaesth,
    environment: (seed) => layouts({ asks: skills, seed }),
    engine: () => tabularEngine({ features: layoutFeatures, prior: layoutPrior }),
    iterations: 50,
    settings: { ...plainAscent, tasks: 12, groupSize: 8 },
    grid: [1, 3, 10].map((learningRate) => ({ learningRate, tolerance })),
    metric: async ({ policy }, seed) => (await measured(policy, seed)).kept,
    more: async ({ policy, evaluate }, seed) => ({
      "edits of a draft": (await measured(policy, seed)).edits,
      "right answers to other questions": (await evaluate("test")).success.mean,
    }),
  });
};

export default defineCheck({
  id: "evopresent-presaesth",
  level: "table",
  claim:
    "One critic that learns to score, to name defects and to compare guides edits to better layouts than one that spent as many answers on scores alone.",
  metric: "share of the rules that a layout keeps after at most 10 edits",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "compare"],
  unequalCost: "every critic trains on as many answers; a list of defects has more words than a score",
  baseline: arm("scores alone: edits at random, kept where the score is higher", ["score"]),
  method: arm("scores, defects and comparisons", ["score", "defects", "compare"]),
  others: {
    compare: arm("comparisons alone: edits at random, kept where preferred in both orders", ["compare"]),
  },
});
