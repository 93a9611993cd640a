import type { Rollout } from "../../../core/slots.ts";
import { method } from "../../../method/method.ts";
import type { Settings } from "../../../method/settings.ts";
import type { Critiqued } from "../../../rollout/critiqued.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { criticArm, criticIterations, criticMeasured } from "../../../worlds/arms/critics.ts";
import { criticised, criticLearning, critiqueRl } from "./method.ts";
import { discriminating, helpful } from "./verdict.ts";

const stage = 50;
const rates = [10, 30, 100, 300];

/** One reward from the first iteration to the last; refinements only where they are paid for, or measured. */
const one = (what: string, rate: (seen: Critiqued) => number, refines = true): Arm => {
  const rollout = (s: Settings, refined: boolean): Rollout =>
    criticised(s, { refinements: Number(refined), rate, temperature: 1 });
  return criticArm(
    what,
    method({
      id: "one-reward",
      family: "judges",
      summary: what,
      models: { critic: { from: "policy" } },
      frozen: { reference: {} },
      says: critiqueRl.says ?? [],
      slots: (s) => ({ ...criticLearning(0.01), rollout: rollout(s, refines) }),
      phases: (s) => [
        { name: "measured", from: criticIterations - criticMeasured, slots: { rollout: rollout(s, true) } },
      ],
    }),
    rates,
  );
};

/** 1 for an attempt that the critique repairs, 0.2 for one that stays right. */
const corrected = ({ right, refined }: Critiqued): number => refined * (right ? 0.2 : 1);

export default defineCheck({
  id: "critique-rl",
  level: "shared",
  claim:
    "A critic that first learns to judge and then to help makes a frozen actor right more often after one critique than a critic that is paid for the actor's success alone.",
  metric: "share of attempts that are right after one critique, last 30 of 150 iterations",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  simpler: ["baseline", "helpful"],
  notes:
    "Where an attempt that is called right is kept, and a right one that is called wrong may be lost, the actor's success alone teaches verdicts: 98.7 % and 97.9 % of those on right and wrong attempts are true. So there is nothing for the first stage to repair, and its third of the critiques is missing where suggestions are learnt; it saves a fifth of the actor's turns. The second stage's reward from the beginning is level with the actor's success. The paper's critics fail where a false alarm costs nothing. Trials with 100 questions and 19,200 critiques had the same order.",
  unequalCost:
    "every arm trains on 9,600 critiques; the first stage plays no refinements, so that the method plays fewer episodes",
  baseline: one("paid for the actor's success alone", ({ refined }) => refined),
  method: criticArm("verdicts first, then help", critiqueRl, rates, { stage, retryTemperature: 1 }),
  others: {
    helpful: one("the second stage's reward from the beginning", helpful(0.2)),
    discriminating: one("the first stage's reward to the end", discriminating, false),
    corrected: one("1 for a repair, 0.2 for what stays right", corrected),
  },
});
