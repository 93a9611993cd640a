import { mean } from "../../../common/statistics/statistics.ts";
import { scorer } from "../../../core/evaluator.ts";
import type { Turn } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { directions } from "../../../env/grids.ts";
import { keyGrid } from "../../../env/keyGrid.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import type { CaptionRewardsOptions } from "./captionRewards.ts";
import { intrinsic } from "./method.ts";

const iterations = 100;
const moves: readonly string[] = directions;

/** Of "row 2 column 3 key yes" the message tells the column and the key. */
const captionOf = ({ prompt }: Turn): string | undefined =>
  prompt.at(-1)?.content.split(" ").slice(2).join(" ");
/** Calls it progress to have the key. */
const annotator = scorer<string>("annotator", async (caption) => Number(caption.endsWith("yes")));
const anything = scorer<string>("anything", async () => 1);

const usual: CaptionRewardsOptions = { annotator, captionOf, coefficient: 0.04, decay: 3, labels: 4 };

const arm = (what: string, options?: Partial<CaptionRewardsOptions>): Arm =>
  trainingArm({
    recipe: method({
      id: "captions",
      family: "judges",
      summary: what,
      slots: intrinsic(0.97, options && { ...usual, ...options }),
    }),
    environment: (seed) => keyGrid({ side: 8, turns: 30, seed }),
    engine: () =>
      tabularEngine({ context: "message", prior: (_, word) => (moves.includes(word) ? 0 : -1e9) }),
    iterations,
    contextTokens: 512,
    settings: { ...plainAscent, tasks: 4, groupSize: 4 },
    grid: [30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve, "success"),
    more: ({ curve }) => ({
      "success in the last 20 iterations": averageOf(curve.slice(-20), "success"),
      "turns in the last 20 iterations": mean(curve.slice(-20).flatMap(({ turns }) => turns ?? [])),
    }),
  });

export default defineCheck({
  id: "oni",
  level: "shared",
  claim:
    "Where the only reward comes after a long way, an annotator's labels of messages, distilled as they come, make an agent succeed sooner than the reward alone.",
  metric: "mean success over 100 iterations",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "anything"],
  baseline: arm("the environment's reward alone"),
  method: arm("labels of messages, discounted within an episode", {}),
  others: {
    undiscounted: arm("a message pays the same each time", { decay: 0 }),
    classified: arm("a classifier of the messages' words", { model: "classification" }),
    anything: arm("every new message is called progress", { annotator: anything }),
  },
});
