import { defineCheck } from "../../../train/check.ts";
import { selfJudgingArm } from "../../../worlds/arms/selfJudging.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { sparkCoevolve } from "./method.ts";

/** About as many generated replies in each arm: recycled prompts add one to two to each question. */
const iterations = { alone: 40, one: 20, all: 13 } as const;
const recycled = (what: string, recycle: string, count: number) =>
  selfJudgingArm(what, sparkCoevolve, { iterations: count, options: { recycle } });

export default defineCheck({
  id: "spark-coevolve",
  level: "shared",
  claim:
    "A policy that also judges, compares and repairs its own attempts is right more often after one look at its answer than one that got as many replies to questions alone.",
  metric: "probability of a right answer after one look at one's own, exact, mean over questions",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "once"],
  unequalCost:
    "each arm generates about as many replies, 5,120 in the baseline; verdicts are no episodes, and have two tokens",
  baseline: selfJudgingArm("questions alone", grpo, { iterations: iterations.alone }),
  method: recycled("attempts are judged, compared and repaired", "all", iterations.all),
  others: {
    once: selfJudgingArm("questions alone, and no look at the answer", grpo, {
      iterations: iterations.alone,
      looks: false,
    }),
    judge: recycled("attempts are judged and compared", "judge", iterations.one),
    single: recycled("attempts are judged one at a time", "single", iterations.one),
    repair: recycled("attempts are repaired", "repair", iterations.one),
  },
});
