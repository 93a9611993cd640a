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

const bits = 30;
const others = 5;
const groups = 4;
const groupSize = 8;

/** The solution to go on from, if any, and the number of bits written. */
function seenIn(context: readonly string[]): { readonly shown: readonly string[]; readonly place: number } {
  const begun = context.lastIndexOf("<assistant>");
  const shown = context.slice(0, begun).filter((word) => word === "0" || word === "1");
  return { shown, place: context.length - 1 - begun };
}

/** A row for each place and the bit that stands there in the solution shown. At first it copies all but one bit in 16, of zeros where none is shown. */
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
      return word === (shown[place] ?? "0") ? Math.log(15) : 0;
    },
  });

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => rugged({ bits, others, seed }),
    engine,
    iterations: 10_000,
    episodes: 500,
    settings: { ...plainAscent, tasks: groups, groupSize },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
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

/** Without the penalty, which the other arms lack too. */
const entropically = (archive: boolean): Recipe => ({
  ...tttDiscover,
  build: (settings) => tttDiscover.build(settings, { kl: 0, archive }),
});

export default defineCheck({
  id: "ttt-discover",
  level: "table",
  simpler: ["baseline", "frozen", "no archive", "mean"],
  claim:
    "On one problem, an archive to go on from and advantages that seek the best of a group find a better solution than GRPO from the task alone, or than a model that stays as it is.",
  metric: "value of the best of 500 solutions, as a share of the largest value there is",
  direction: "higher",
  smallestEffect: 0.005,
  range: [0, 1],
  notes:
    "A small model without attention: a table of the place and of the bit that stands there in the solution shown, which at first copies all but one bit in 16, of zeros where none is shown. No penalty towards the initial policy, in any arm.",
  baseline: arm("GRPO from the task alone", byMean(false)),
  method: arm("archive and entropic advantages", entropically(true)),
  others: {
    frozen: arm("archive, the model stays as it is", byMean(true, false)),
    "no archive": arm("entropic advantages from the task alone", entropically(false)),
    mean: arm("archive, advantages over the group's mean", byMean(true)),
  },
});
