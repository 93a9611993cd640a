import { rejectionSampled } from "../../../advantage/rejectionSampled.ts";
import { meanOver, replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import type { Recipe } from "../../../method/method.ts";
import { likelihood } from "../../../objective/likelihood.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { agentRlvr } from "./method.ts";

const environment = (seed: number) =>
  codewords({ seed, questions: 4, length: 4, vocabulary: 4, pay: "whole" });

/** Guidance names the right word of the first wrong position, which raises it by 4 nats. */
const reading: Reading = {
  isRead: (message) => message.startsWith("wrong"),
  shift: (told, reply, word) =>
    told.some((message) => ` ${message} `.includes(` step ${reply.length + 1} : ${word} `)) ? 4 : 0,
};

const arm = (what: string, recipe: Recipe, groupSize: number, rates: readonly number[]) =>
  trainingArm({
    what,
    recipe,
    environment,
    engine: () =>
      tabularEngine({
        context: "message",
        reading,
        prior: (_, word) => (/^w\d$/.test(word) ? 0 : -1e9),
      }),
    iterations: 16,
    settings: { ...plainAscent, tasks: 4, groupSize },
    grid: rates.map((learningRate) => ({ learningRate })),
    follow: (policy, environment) =>
      meanOver(
        environment.tasks("train"),
        async (task) => (await replyProbabilities(policy, task, [codeOf(task).join(" ")]))[0]!,
      ),
  });

/** Imitates the same successes without pairs. */
const imitated: Recipe = {
  ...agentRlvr,
  build: (settings) => {
    const built = agentRlvr.build(settings);
    return {
      ...built,
      slots: { ...built.slots, advantage: [rejectionSampled()], objective: [likelihood()] },
    };
  },
};

export default defineCheck({
  id: "agent-rlvr",
  level: "shared",
  simpler: ["baseline", "GRPO"],
  claim:
    "Of guided attempts, pairs of successes and failures teach codes to be written unaided sooner than imitation of the successes.",
  metric: "probability of the whole code, unaided, mean over training",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost:
    "a guided attempt is made where one failed: fewer as they learn; GRPO makes 16 unaided attempts at each task, the others 8",
  notes:
    "The first design's opponent was GRPO unaided, and guidance named up to three of five words: both ways to learn from it came to 1.0, GRPO to 0.24. Here guidance names one of four words. A code has one right form, so there is little for failures to say. How well the policy reads guidance is given, not learnt: 4 nats.",
  baseline: arm("guided successes imitated, guidance stripped", imitated, 8, [100, 1000, 1e4, 1e5]),
  method: arm("guided pairs, guidance stripped", agentRlvr, 8, [1000, 1e4, 1e5, 1e6]),
  others: { GRPO: arm("GRPO, unaided", grpo, 16, [100, 1000, 1e4, 1e5]) },
});
