import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { Advantage } from "../../../core/slots.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { settingsOf } from "../../../method/settings.ts";
import { defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { faults } from "./faults.ts";
import { reflecting, retroformer } from "./method.ts";
import type { RetrospectiveOptions } from "./retrospective.ts";

/** An actor that follows a reflection naming one of eight repairs with probability 0.8; otherwise uniform. */
const reading: Reading = {
  isRead: (message) => /^r\d$/.test(message),
  shift: (told, _reply, word) => (told.at(-1) === word ? Math.log(28) : 0),
};

/** Replies of one repair, after which the writer ends. */
const engine = () =>
  tabularEngine({
    context: "message",
    reading,
    prior: (context, word) => {
      const begun = context.at(-1) !== "<assistant>";
      return (begun ? word === "<end>" : /^r\d$/.test(word)) ? 0 : -1e9;
    },
  });

/** Retroformer with other rollout settings, and optionally another estimator. */
const variant = (options: Omit<RetrospectiveOptions, "writer">, advantage?: Advantage): Recipe => ({
  ...retroformer,
  build: (settings) => {
    const built = retroformer.build(settings);
    const { rollout } = reflecting(options)(settingsOf({ ...retroformer.defaults, ...settings }));
    return {
      ...built,
      slots: { ...built.slots, ...(rollout && { rollout }), ...(advantage && { advantage: [advantage] }) },
    };
  },
});

/** @param tasks per iteration; the number of reflections per failure is chosen so that there are 32 in total. */
const arm = (what: string, recipe: Recipe, rates: readonly number[], tasks = 32) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => faults({ seed, worth: 0.5, gain: 0.5 }),
    engine,
    iterations: 40,
    settings: { ...plainAscent, tasks, groupSize: 1 },
    grid: rates.map((learningRate) => ({ learningRate })),
    metric: ({ curve }) => averageOf(curve, "repaired"),
  });

const rates = [30, 60, 120, 250, 500];

export default defineCheck({
  id: "retroformer",
  level: "table",
  claim:
    "A writer of reflections that is paid for the rise of the return learns sooner than one that is paid the return that follows, where tasks differ in worth.",
  metric: "share of second attempts that succeed, mean over training",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 5,
  notes:
    "Machines pay up to 0.5 for nothing, the right repair 0.5 more, and the actor follows a reflection four times in five: at most 0.8 of the second attempts succeed. Returns are graded and the baseline is shared on purpose: with returns of 0 and 1 a reflection is written after a 0 only, and within a group of reflections on one failure the return before is the same for all, so that both ratings are one (`groups`). The worth of a machine is the same at both attempts; noise on it would make the difference noisier than the return alone. Steps of 1000, chosen on two seeds, sometimes settle on a wrong repair for good: the two ratings were then equal (0.67 and 0.68, 20 trial seeds).",
  baseline: arm("rated by the return that follows", variant({ rating: "after" }), rates),
  method: arm("rated by the rise of the return", variant({}), rates),
  others: {
    groups: arm(
      "four reflections on each failure, compared with each other",
      variant({ reflections: 4 }, groupNormalised({ scale: "none" })),
      [60, 120, 250, 500, 1000],
      8,
    ),
  },
});
