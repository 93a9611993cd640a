import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { spear } from "./method.ts";
import { toolBonus } from "./toolBonus.ts";
import { toolbox } from "./toolbox.ts";

const iterations = 120;
const scheduled = { bonusOver: 40, replayOver: 40, masked: 0, fill: 0.5 };

/** Answers come first: an untrained policy calls a tool in one of four actions. */
const engine = () =>
  tabularEngine({
    context: "message",
    prior: (context, word) => {
      const said = context.slice(context.lastIndexOf("<assistant>") + 1);
      if (said.length === 0) return word === "answer" ? 1 : word === "call" ? 0 : -1e9;
      return (said[0] === "call" ? /^t\d$/ : /^a\d$/).test(word) ? 0 : -1e9;
    },
  });

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => toolbox({ seed }),
    engine,
    iterations,
    settings: { ...plainAscent, tasks: 5, groupSize: 8, clipHigh: 0.28 },
    grid: [10, 30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve.slice(-20), "success"),
    more: ({ curve }) => ({
      "turns, last": averageOf(curve.slice(-20), "turns"),
      "replayed attempts": curve.reduce((sum, m) => sum + (m.replayed ?? 0), 0),
    }),
  });

const plain = method({
  id: "plain",
  family: "curriculum",
  summary: "GRPO without the deviation",
  slots: { advantage: groupNormalised({ scale: "none" }) },
});

/** @param over 0: it stays. */
const bonus = (over: number): Recipe =>
  method({
    id: "bonus",
    family: "curriculum",
    summary: "the same with a bonus for calls",
    slots: { feedback: [outcome(), toolBonus({ over })], advantage: groupNormalised({ scale: "none" }) },
  });

const withOptions = (options: Parameters<typeof spear.build>[1]): Recipe => ({
  ...spear,
  build: (settings) => spear.build(settings, { ...scheduled, ...options }),
});

export default defineCheck({
  id: "spear",
  level: "table",
  simpler: ["baseline", "bonus that stays", "replay alone", "no recalibration"],
  claim:
    "A bonus for calls that fades and replay that grows solve more problems that need tools than GRPO does.",
  metric: "success of the last 20 of 120 iterations",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  unequalCost: "equal attempts; each arm learns for itself how many calls it makes before an answer",
  notes:
    "A table has no entropy to protect beyond its own, so the mask of tokens is left out here. With 40 attempts in an iteration the store rarely holds one and a half times as many of the last five iterations; it is replayed at half as many.",
  baseline: arm("GRPO without the deviation", plain),
  method: arm("the bonus fades, replay grows", withOptions({})),
  others: {
    "bonus that stays": arm("a bonus that does not fade", bonus(0)),
    "replay alone": arm("replay that grows, no bonus", withOptions({ perCall: 0 })),
    "no recalibration": arm("replayed attempts keep their whole reward", withOptions({ baseline: "none" })),
  },
});
