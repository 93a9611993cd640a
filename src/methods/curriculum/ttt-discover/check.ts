import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { uniform } from "../../../data/uniform.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { nothing } from "../../../update/nothing.ts";
import { fromArchive } from "./fromArchive.ts";
import { tttDiscover } from "./method.ts";
import { rugged } from "./rugged.ts";

const bits = 20;
const others = 4;
const groups = 4;
const groupSize = 8;

/** The solution to go on from, if any, and the number of bits written. */
function seenIn(context: readonly string[]): { readonly shown: readonly string[]; readonly place: number } {
  const begun = context.lastIndexOf("<assistant>");
  const shown = context.slice(0, begun).filter((word) => word === "0" || word === "1");
  return { shown, place: context.length - 1 - begun };
}

/** A row for each place and the bit that stands there in the solution shown. At first it copies all but one bit in 16. */
const engine = () =>
  tabularEngine({
    context: "message",
    features: (context) => {
      const { shown, place } = seenIn(context);
      return [`${place} ${shown[place] ?? "none"}`];
    },
    prior: (context, word) => {
      if (word !== "0" && word !== "1") return -1e9;
      const { shown, place } = seenIn(context);
      return word === shown[place] ? Math.log(15) : 0;
    },
  });

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => rugged({ bits, others, seed }),
    engine,
    iterations: 10_000,
    episodes: 640,
    settings: { ...plainAscent, tasks: groups, groupSize },
    grid: [0.3, 1, 3, 10, 30].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => curve.at(-1)?.best ?? 0,
    more: ({ curve }) => ({ "mean reward, last": curve.at(-1)?.reward ?? 0 }),
  });

/** The mean of a group as the baseline, from the archive or from the task alone. */
const byMean = (archive: boolean, learns = true): Recipe =>
  method({
    id: `mean-${archive ? "archive" : "alone"}${learns ? "" : "-frozen"}`,
    family: "curriculum",
    summary: "advantages over the group's mean",
    says: tttDiscover.says!,
    slots: {
      data: uniform({ tasks: 1 }),
      rollout: fromArchive({ groups, groupSize, archive }),
      advantage: groupNormalised(),
      objective: policyGradient(),
      ...(learns ? {} : { update: nothing() }),
    },
  });

const alone: Recipe = {
  ...tttDiscover,
  build: (settings, options) => tttDiscover.build(settings, { ...options, archive: false }),
};

export default defineCheck({
  id: "ttt-discover",
  level: "table",
  simpler: ["baseline", "frozen", "no archive", "mean"],
  claim:
    "On one problem, an archive to go on from and advantages that seek the best of a group find a better solution than GRPO from the task alone, or than a model that stays as it is.",
  metric: "value of the best of 640 solutions, as a share of the largest value there is",
  direction: "higher",
  smallestEffect: 0.005,
  range: [0, 1],
  baseline: arm("GRPO from the task alone", byMean(false)),
  method: arm("archive and entropic advantages", tttDiscover),
  others: {
    frozen: arm("archive, the model stays as it is", byMean(true, false)),
    "no archive": arm("entropic advantages from the task alone", alone),
    mean: arm("archive, advantages over the group's mean", byMean(true)),
  },
});
