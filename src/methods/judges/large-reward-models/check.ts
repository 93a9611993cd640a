import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { directions } from "../../../env/grids.ts";
import { keyGrid } from "../../../env/keyGrid.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { frameJudge } from "./frameJudge.ts";
import { type JudgedFramesOptions, judgedFrames } from "./judgedFrames.ts";
import { unannounced } from "./unannounced.ts";

const iterations = 50;
const moves: readonly string[] = directions;
const nothing = { contrast: 0, progress: 0, completion: 0, demonstrations: 4 };

const arm = (what: string, pays: Partial<JudgedFramesOptions>): Arm =>
  trainingArm({
    recipe: method({
      id: "judged-frames",
      family: "judges",
      summary: what,
      helpers: { judge: frameJudge() },
      slots: {
        feedback: judgedFrames({ ...nothing, ...pays }),
        credit: perTurn(),
        advantage: returnsToGo({ discount: 0.97, normalise: true }),
      },
    }),
    environment: (seed) => unannounced(keyGrid({ side: 8, turns: 30, seed })),
    engine: () =>
      tabularEngine({ context: "message", prior: (_, word) => (moves.includes(word) ? 0 : -1e9) }),
    iterations,
    contextTokens: 512,
    settings: { ...plainAscent, tasks: 4, groupSize: 4 },
    grid: [30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve, "success"),
    more: ({ curve }) => ({
      "success in the first 5 iterations": averageOf(curve.slice(0, 5), "success"),
      "success in the last 10 iterations": averageOf(curve.slice(-10), "success"),
      "turns in the last 10 iterations": mean(curve.slice(-10).flatMap(({ turns }) => turns ?? [])),
    }),
  });

export default defineCheck({
  id: "large-reward-models",
  level: "shared",
  claim:
    "Contrast, progress and completion together, from a judge that four demonstrations were shown to, teach a long way faster than its completion alone.",
  metric: "mean true success over 50 iterations",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  simpler: ["baseline", "gain", "contrast"],
  unequalCost:
    "an episode ends at the goal, so that an arm that gets there plays fewer turns; episodes are equal",
  notes:
    "Inconclusive: in a third of the grids a policy that begins at random seldom meets the door, and every arm stays near 0, so that seeds differ more than arms. Each of the dense signals alone does worse than completion alone (0.27 and 0.16 against 0.34): a judge of four demonstrations, linear in words and their pairs, is wrong where they did not pass. Progress itself in every step pays lingering: 0.02. Tried on one other seed, over 100 iterations: 0.83 and 0.88.",
  baseline: arm("completion alone", { completion: 1 }),
  method: arm("contrast, gain of progress and completion", { contrast: 0.1, progress: 1, completion: 1 }),
  others: {
    gain: arm("gain of progress alone", { progress: 1 }),
    contrast: arm("contrast alone", { contrast: 0.1 }),
    absolute: arm("progress itself in every step", { progress: 1, absolute: true }),
  },
});
