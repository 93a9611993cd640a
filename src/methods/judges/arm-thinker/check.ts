import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, type Choice, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, type TrainingArm, trainingArm } from "../../../train/trainingArm.ts";
import { readerPrior } from "../../../worlds/arms/inquiry.ts";
import { inquiry } from "../../../worlds/inquiry.ts";
import { graded, gradedVerdict, type Judgement } from "./gradedVerdict.ts";
import { armThinker } from "./method.ts";

/** Verdict a0 or a1 on one of 16 topics; one of four queries tells which, and fails in 15 of 100 calls. */
const options = { topics: 16, hops: 1, branching: 2, queries: 4, turns: 4, miss: 0.15 };
const [iterations, stage] = [80, 10];

/** The judge can read what a query tells, and begins with a verdict rather than with a query by four nats. */
const engine = () => {
  const read = readerPrior(options);
  return tabularEngine({
    context: "message",
    prior: (context, word) =>
      read(context, word) + (context.at(-1) === "<assistant>" && word === "answer" ? 4 : 0),
  });
};

const arm = (what: string, recipe: TrainingArm["recipe"], choice: Choice = {}): Arm =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => inquiry({ ...options, seed }),
    engine,
    iterations,
    settings: { ...plainAscent, tasks: 16, groupSize: 8 },
    grid: [30, 100, 300, 1000].map((learningRate) => ({ learningRate, ...choice })),
    metric: ({ curve }) => averageOf(curve, "success"),
    more: ({ curve }) => ({
      "right in the last 20 iterations": averageOf(curve.slice(-20), "success"),
      "turns in the last 20 iterations": averageOf(curve.slice(-20), "turns"),
    }),
  });

const rewarded = (what: string, rate: (judgement: Judgement) => number): Arm =>
  arm(
    what,
    method({ id: "rewarded", family: "judges", summary: what, slots: { feedback: gradedVerdict(rate) } }),
  );

export default defineCheck({
  id: "arm-thinker",
  level: "shared",
  claim:
    "Rewards for calling tools at first, and then for calls that told something before a right verdict, make a judge that hardly calls any right more often than a reward for right verdicts alone.",
  metric: "share of right verdicts, mean over 80 iterations",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "any"],
  unequalCost: "every arm judges as often; a judge that calls tools writes more",
  baseline: rewarded("1 for a right verdict", ({ right }) => Number(right)),
  method: arm("calls at first, then the graded reward", armThinker, { stage }),
  others: {
    graded: rewarded("the graded reward from the beginning", (j) => graded(j)),
    any: rewarded(
      "1 for a right verdict and 0.5 for any call",
      ({ right, called }) => Number(right) + (called ? 0.5 : 0),
    ),
  },
});
