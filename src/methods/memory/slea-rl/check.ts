import { tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Reading } from "../../../engine/tabular/reading.ts";
import { keyGrid } from "../../../env/keyGrid.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type SleaRlOptions, sleaRlWith } from "./method.ts";

const iterations = 60;
const moves = ["north", "east", "south", "west"];

/** A lesson about the current place raises or lowers its move by 2 nats, however often it is shown. */
const reading: Reading = {
  isRead: (message) => message.startsWith("Lessons :"),
  shift: (told, _reply, word, context) => {
    const [place = ""] = context.join(" ").match(/row \d+ column \d+ key \w+/) ?? [];
    const says = (what: string): boolean =>
      told.some((text) => `${text}\n`.includes(`${what} ${place} : ${word}\n`));
    return 2 * (Number(says("do at")) - Number(says("beware at")));
  },
};

const prior = (_context: readonly string[], word: string): number => (moves.includes(word) ? 0 : -1e9);

/** Places that differ in one digit are not similar, and neither are moves that share letters. */
const exact = { similarity: 1, alike: 0.99 } as const;

const arm = (what: string, options: SleaRlOptions = {}): Arm =>
  trainingArm({
    what,
    recipe: sleaRlWith({ ...exact, ...options }),
    settings: { ...plainAscent, tasks: 1, groupSize: 8 },
    grid: [10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    environment: (seed) => keyGrid({ side: 4, loops: 12, turns: 20, seed }),
    engine: () => tabularEngine({ context: "message", reading, prior }),
    contextTokens: 800,
    iterations,
    metric: ({ curve }) => averageOf(curve, "success"),
    more: async ({ curve, evaluate }) => ({
      last: averageOf(curve.slice(-iterations / 4), "success"),
      shown: averageOf(curve, "lessons.turns"),
      library: averageOf(curve.slice(-1), "lessons"),
      without: (await evaluate("train")).success.mean,
    }),
  });

const unshown = { warmUp: Number.POSITIVE_INFINITY } as const;

export default defineCheck({
  id: "slea-rl",
  level: "shared",
  simpler: ["start", "episodes"],
  claim:
    "Lessons shown at every step, by what is seen there, raise success over practice with the same advantages and no lessons.",
  metric: "mean success over practice",
  direction: "higher",
  smallestEffect: 0.03,
  range: [0, 1],
  tuningSeeds: 2,
  notes:
    "A first run, on grids with 4 draws of open walls in place of 12 and two tasks in place of one, was inconclusive, 0.026 [-0.084, 0.136] over 20 seeds: 16 of them between 0.00 and 0.16, and the others decided by when chance first found key and door, before which there is nothing to learn from. Now chance finds them at once. Tried besides, on other seeds: 3 by 3 cells, where both arms know the way at once, groups of four, which gained 0.11, and smaller steps, of 1 and 10, where lessons raised 0.00 and 0.08 to 0.81 and 0.88. With large steps a table learns what to do at a place from a single success, which no network does: what lessons add is little then. Reading is given: a lesson shifts logits by 2 nats in every arm that shows it.",
  baseline: arm("advantages of episodes and steps, no lessons", unshown),
  method: arm("lessons at every step"),
  others: {
    start: arm("as many lessons at the start alone", { at: "start", most: { strategy: 10, warning: 5 } }),
    episodes: arm("lessons at every step, advantages of episodes alone", { steps: 0 }),
  },
});
