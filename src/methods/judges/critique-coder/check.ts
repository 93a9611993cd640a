import { defineCheck } from "../../../train/check.ts";
import { selfJudgingArm } from "../../../worlds/arms/selfJudging.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { critiqueCoder } from "./method.ts";

/** 128 replies an iteration in each arm. */
const iterations = 40;
const shared = (what: string, share: number) =>
  selfJudgingArm(what, critiqueCoder, { iterations, options: { share } });

export default defineCheck({
  id: "critique-coder",
  level: "shared",
  claim:
    "With a fifth of the prompts asking for verdicts, a policy that may look at its answer once is right more often than after as many replies to questions alone.",
  metric: "probability of a right answer after one look at one's own, exact, mean over questions",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "once"],
  unequalCost: "each arm generates as many replies; verdicts are no episodes, and have two tokens",
  baseline: selfJudgingArm("questions alone", grpo, { iterations }),
  method: shared("a fifth of the prompts ask for a verdict", 0.2),
  others: {
    half: shared("half of the prompts ask for a verdict", 0.5),
    once: selfJudgingArm("questions alone, and no look at the answer", grpo, { iterations, looks: false }),
  },
});
