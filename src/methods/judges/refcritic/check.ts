import { method } from "../../../method/method.ts";
import type { Critiqued } from "../../../rollout/critiqued.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { criticArm, criticIterations, criticMeasured } from "../../../worlds/arms/critics.ts";
import { refcritic, refereed } from "./method.ts";
import { judging, refining } from "./refinementFeedback.ts";

const [stage, refinements] = [50, 4];
const rates = [30, 100, 300, 1000];

/** One reward from the first iteration to the last; refinements only where they are paid for, or measured. */
const one = (what: string, rate: (seen: Critiqued) => number, paid = true): Arm =>
  criticArm(
    what,
    method({
      id: "one-reward",
      family: "judges",
      summary: what,
      models: { critic: { from: "policy" } },
      says: refcritic.says ?? [],
      slots: (s) => ({ rollout: refereed(s, { refinements: paid ? refinements : 0, rate }) }),
      phases: (s) => [
        {
          name: "measured",
          from: criticIterations - criticMeasured,
          slots: { rollout: refereed(s, { refinements, rate }) },
        },
      ],
    }),
    rates,
  );

export default defineCheck({
  id: "refcritic",
  level: "shared",
  claim:
    "A critic that is paid for verdicts and then for refinements as well makes a frozen actor right more often after one critique than a critic that is paid for verdicts alone.",
  metric: "share of attempts that are right after one critique, last 30 of 150 iterations",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  simpler: ["baseline", "success"],
  unequalCost:
    "every arm trains on 9,600 critiques; verdicts alone need no refinements, and the others play four for each attempt that is called wrong",
  baseline: one("paid for verdicts alone", judging, false),
  method: criticArm("verdicts, then refinements as well", refcritic, rates, { stage, refinements }),
  others: {
    "at once": one("both from the beginning", refining(1)),
    ungated: one("both, refinements paid everywhere", (seen) => judging(seen) + seen.refined),
    success: one("paid for the refinements alone", ({ refined }) => refined),
  },
});
