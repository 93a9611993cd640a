import { randomStream, shuffled } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type BranchAndRethinkOptions, branchAndRethink, branchWords } from "./branchAndRethink.ts";
import { branchReward } from "./branchReward.ts";
import { closeLook, looks, reader, speaking } from "./closeLook.ts";

const [iterations, measured, groupSize] = [120, 30, 8];

const arm = (what: string, slots: SlotChoices, metric: string): Arm =>
  trainingArm({
    recipe: method({
      id: "looks",
      family: "judges",
      summary: what,
      says: [branchWords.branch, branchWords.rethink],
      slots,
    }),
    environment: (seed) => closeLook(seed),
    engine: () => tabularEngine({ prior: speaking, features: reader }),
    iterations,
    settings: { ...plainAscent, tasks: 8, groupSize },
    grid: [3, 10, 30, 100].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve.slice(-measured), metric),
    more: ({ curve }) => ({
      "right verdicts, all iterations": averageOf(curve, metric),
      "right verdicts in the first 10 iterations": averageOf(curve.slice(0, 10), metric),
    }),
  });

const twice = (what: string, options: BranchAndRethinkOptions): Arm =>
  arm(
    what,
    {
      rollout: branchAndRethink({ groupSize, ...options }),
      feedback: branchReward({ criteria: looks }),
    },
    "judged.right",
  );

const two = (random: ReturnType<typeof randomStream>): string =>
  shuffled(looks, random).slice(0, 2).join(" ");

export default defineCheck({
  id: "br-rm",
  level: "table",
  claim:
    "A judge that names two criteria and looks again with those, both trained by one reward, is right more often than one that gives its verdict at once.",
  metric: "share of right verdicts in the last 30 of 120 iterations",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  simpler: ["baseline", "fixed", "random", "second"],
  unequalCost: "every arm gives as many verdicts; a judge that names criteria writes them as well",
  baseline: arm("a verdict at once", {}, "success"),
  method: twice("criteria of its own, trained with the verdict", {}),
  others: {
    fixed: twice("the same two criteria for all", { given: () => two(randomStream(1)) }),
    random: twice("two criteria at random", {
      given: (task, attempt) => two(randomStream(task.seed).split("given", attempt)),
    }),
    second: twice("criteria of its own, the verdict alone trained", { together: false }),
  },
});
