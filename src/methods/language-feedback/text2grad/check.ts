import type { Able } from "../../../core/evaluator.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { scriptedCritiquer } from "../../../evaluator/scripted.ts";
import type { Recipe } from "../../../method/method.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { spanRewards, text2grad } from "./method.ts";
import { spotty } from "./spotty.ts";

/** Eight codes of eight words out of ten, each word right or wrong by itself. */
const [length, questions] = [8, 8];

const variant = (critiquer: Able<"critique">, discount: number): Recipe =>
  method({
    id: "text2grad",
    family: "language-feedback",
    summary: text2grad.summary,
    slots: spanRewards(critiquer, discount),
  });

const arm = (recipe: Recipe, what: string) =>
  trainingArm({
    recipe,
    what,
    environment: (seed) => codewords({ seed, questions, length, vocabulary: 10 }),
    engine: () =>
      tabularEngine({ context: "message", prior: (_context, word) => (/^w\d$/.test(word) ? 0 : -1e9) }),
    settings: { ...plainAscent, tasks: questions, groupSize: 8 },
    grid: [100, 300, 1000, 3000, 10_000, 30_000].map((learningRate) => ({ learningRate })),
    iterations: 12,
    metric: ({ curve }) => averageOf(curve, "reward"),
    more: ({ curve }) => ({ last: averageOf(curve.slice(-1), "reward") }),
  });

export default defineCheck({
  id: "text2grad",
  level: "shared",
  simpler: ["summed"],
  claim: "Rewarding the words that a critiquer marks teaches faster than a score of the whole answer.",
  metric: "share of right words, mean over practice",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 3,
  baseline: arm(grpo, "GRPO on the share of right words"),
  method: arm(text2grad, "±1 on the words that a true critiquer marks, γ = 0"),
  others: {
    spotty: arm(
      variant(spotty(scriptedCritiquer(), { given: 0.3, flipped: 0.1 }), 0),
      "a critiquer that marks 30 % of the words, a tenth of them wrongly",
    ),
    summed: arm(variant(scriptedCritiquer(), 1), "the same marks, each word paid all that follow: γ = 1"),
  },
});
