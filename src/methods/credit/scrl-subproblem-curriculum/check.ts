import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { applied, chains } from "../../../worlds/chains.ts";
import { scrlSubproblemCurriculum } from "./method.ts";

const base = 10;
const operations = ["plus3", "times7", "plus8", "times3"];

/** Initially every step is right with probability 0.2; the other nine digits share the rest. */
const engine = () =>
  tabularEngine({
    context: "message",
    prior: ([, operation = "", value = ""], word) => {
      if (!/^\d$/.test(word)) return -1e9;
      return Number(word) === applied(operation, Number(value), base) ? Math.log((0.2 * 9) / 0.8) : 0;
    },
  });

/** The same problem, rewarded only by its last value. */
const finalOnly = method({
  id: "grpo-final",
  family: "baseline",
  summary: "GRPO on the final answer",
  slots: { feedback: outcome({ rewards: ["outcome"] }) },
});

const arm = (recipe: TrainingArm["recipe"]) =>
  trainingArm({
    recipe,
    environment: (seed) => chains({ operations, order: "fixed", base, seed }),
    engine,
    iterations: 100,
    settings: {
      ...plainAscent,
      tasks: 8,
      groupSize: 8,
    },
    grid: [100, 300, 1000, 3000].map((learningRate) => ({ learningRate })),
    more: ({ curve }) => ({ final: curve.at(-1)!.success!, deadGroupsAtFirst: curve[0]!.deadGroups! }),
  });

export default defineCheck({
  id: "scrl-subproblem-curriculum",
  level: "shared",
  claim:
    "Sub-problem answers, credited by position, teach a hard problem sooner than its final answer alone.",
  metric: "mean success over 100 updates",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(finalOnly),
  method: arm(scrlSubproblemCurriculum),
});
