import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { turnPpo } from "../../baseline/turn-ppo/method.ts";
import { listedSubgoals, mistaken } from "./advisor.ts";
import { beaconGrid, gridPolicy } from "./beaconGrid.ts";
import { beaconSlots, wordsAsBeacons } from "./method.ts";

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => beaconGrid({ seed }),
    engine: () => tabularEngine(gridPolicy),
    iterations: 36,
    contextTokens: 1024,
    settings: { ...plainAscent, tasks: 8, groupSize: 2, criticRate: 0.1 },
    grid: [5, 12, 30, 75].map((learningRate) => ({ learningRate })),
    metric: async ({ evaluate }) => (await evaluate("test")).success.mean,
    more: ({ curve }) => ({
      "success in training, first half": curve
        .slice(0, 18)
        .reduce((sum, { success = 0 }) => sum + success / 18, 0),
    }),
  });

/** PPO with the bonuses, without a word to the agent. */
const unshown: Recipe = {
  ...wordsAsBeacons,
  build: (settings) => wordsAsBeacons.build(settings, { shown: false }),
};

/** An advisor that names another subgoal half of the time, and pays nothing for it. */
const halfWrong = method({
  ...wordsAsBeacons,
  id: "half-wrong",
  slots: beaconSlots(mistaken(listedSubgoals, 0.5)),
});

export default defineCheck({
  id: "words-as-beacons",
  level: "table",
  simpler: ["baseline", "bonus alone"],
  claim:
    "Subgoals in words that fade out over training leave an agent that acts better without them than PPO on the reward at the goal alone.",
  metric: "success without subgoals in 64 rooms that were never trained on",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm("PPO on the reward at the goal", turnPpo),
  method: arm("subgoals that fade out", wordsAsBeacons),
  others: {
    "bonus alone": arm("the bonuses, without subgoals shown", unshown),
    "half wrong": arm("subgoals of an advisor that is wrong half of the time", halfWrong),
  },
});
