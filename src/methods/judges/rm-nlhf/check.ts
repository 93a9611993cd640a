import { expectedValue } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { allSequences } from "../../../env/oneReply.ts";
import { ridge } from "../../../helper/ridge.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type CritiqueRewardOptions, critiqueReward } from "./critiqueReward.ts";
import { reasons, reasonWords } from "./reasons.ts";

const replies = allSequences(reasonWords, 2);
const argumentsOf = (text: string): readonly string[] => [
  ...new Set(text.split(/[\s;]+/).filter((word) => word !== "")),
];
const few = 0.03;

/** @param share of the pairs that people criticised. */
const arm = (what: string, pays: Partial<CritiqueRewardOptions>, share: number): Arm => {
  const grid = [3, 10, 30, 100].map((learningRate) => ({ learningRate }));
  const armIn = (seed: number): Arm => {
    const world = reasons(seed, share);
    return trainingArm({
      recipe: method({
        id: "reasons",
        family: "judges",
        summary: what,
        helpers: { meta: ridge({ keep: 0.9 }) },
        slots: { feedback: critiqueReward({ lambda: 1, argumentsOf, ...pays }) },
      }),
      environment: () => world,
      engine: () =>
        tabularEngine({
          context: "message",
          prior: (context, word) => {
            const begun = context.length - 1 - context.lastIndexOf("<assistant>");
            if (begun >= 2) return word === "<end>" ? 0 : -1e9;
            return reasonWords.includes(word) ? 0 : -1e9;
          },
        }),
      iterations: 60,
      settings: { ...plainAscent, tasks: 8, groupSize: 8 },
      grid,
      metric: ({ policy }) =>
        expectedValue(policy, world.tasks("train")[0]!, replies, (reply) => world.accuracyOf(reply, true)),
      more: async ({ policy }) => ({
        "accuracy before the shift": await expectedValue(policy, world.tasks("train")[0]!, replies, (reply) =>
          world.accuracyOf(reply, false),
        ),
        "share of critiques with a true reason": await expectedValue(
          policy,
          world.tasks("train")[0]!,
          replies,
          (reply) => Number(/r[01]\b/.test(reply)),
        ),
      }),
    });
  };
  return { what, grid, measure: (choice, seed) => armIn(seed).measure(choice, seed) };
};

export default defineCheck({
  id: "rm-nlhf",
  level: "table",
  claim:
    "With human critiques of 3 % of the pairs and a meta reward model for the others, a judge goes by reasons that hold after a shift, where the verdict's reward alone teaches it a spurious one.",
  metric: "share of right verdicts after the shift, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "unpredicted"],
  baseline: arm("right verdicts alone", { lambda: 0 }, few),
  method: arm("verdicts and arguments, predicted where people wrote none", { meta: "meta" }, few),
  others: {
    unpredicted: arm("verdicts and arguments, 0 where people wrote none", {}, few),
    gated: arm("arguments count where the verdict is right, predicted", { meta: "meta", gated: true }, few),
    all: arm("verdicts and arguments, every pair criticised", {}, 1),
  },
});
