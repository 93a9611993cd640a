import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { averageOf, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { matchtir } from "./method.ts";
import { toolCalls } from "./toolCalls.ts";
import { toolMatching } from "./toolMatching.ts";

const needed = 3;

/** The initial policy knows the format of a call; each tool is as likely as closing. */
const prior: Prior = (context, word) => {
  const written = context.slice(context.indexOf("<assistant>") + 1);
  const kinds = [/^(call|close)$/, /^tool\d/, /^x=/, /^y=/, /^<end>$/];
  const kind = written[0] === "close" ? /^<end>$/ : kinds[written.length]!;
  return kind.test(word) ? (word === "call" ? Math.log(6) : 0) : -1e9;
};

/** The same rewards, summed over the attempt. */
const summed = method({
  id: "matchtir-summed",
  family: "credit",
  summary: "group advantage of the sum of match rewards and outcome",
  slots: { feedback: [toolMatching(), outcome()] },
});

/** A call earns its best similarity, however often it is repeated. */
const repeated = method({
  id: "matchtir-best",
  family: "credit",
  summary: "each call by its most similar reference, not one to one",
  slots: {
    feedback: [toolMatching({ assignment: "best" }), outcome()],
    credit: perTurn(),
    advantage: [
      groupNormalised({ weight: 0.5 }),
      returnsToGo({ discount: 0.9, normalise: true, weight: 0.5 }),
    ],
  },
});

/** Success, weighted by the turns needed over those taken; both as means of an iteration. */
const direct = ({ curve }: TrainedInMemory): number =>
  averageOf(
    curve.map((m) => ({ direct: (m.success! * (needed + 1)) / Math.max(needed + 1, m.turns!) })),
    "direct",
  );

const arm = (recipe: Recipe) =>
  trainingArm({
    recipe,
    environment: (seed) => toolCalls({ jobs: 2, tools: 6, needed, values: 2, seed }),
    engine: () => tabularEngine({ context: "message", prior }),
    iterations: 100,
    settings: { tasks: 2, groupSize: 8, minibatches: 1, schedule: "constant", warmUp: 0 },
    grid: [0.1, 0.2, 0.4, 0.8].map((learningRate) => ({ learningRate })),
    metric: direct,
    more: ({ curve }) => ({
      success: averageOf(curve, "success"),
      "turns at the end": averageOf(curve.slice(-10), "turns"),
    }),
  });

export default defineCheck({
  id: "matchtir",
  level: "table",
  simpler: ["outcome only", "not one to one"],
  claim:
    "Match rewards per turn teach exact chains of calls without superfluous ones sooner than their sum does.",
  metric: "success weighted by turns needed over turns taken, mean over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  baseline: arm(summed),
  method: arm(matchtir),
  others: { "outcome only": arm(grpo), "not one to one": arm(repeated) },
});
