import type { Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { xlandOpenEnded } from "./method.ts";

/** Tasks from likely to hopeless; some three in ten can be learnt at all. */
const world = (seed: number) => ({ secrets: 48, lengths: [2], success: [1e-7, 0.5], seed }) as const;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations: 10_000,
    episodes: 2400,
    settings: { ...plainAscent, tasks: 8, groupSize: 8 },
    grid: [3, 10, 30, 100, 300].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaidedSuccess(policy, secrets(world(seed))),
    more: ({ curve }) => ({
      iterations: curve.length,
      "groups with a difference": curve.reduce((sum, m) => sum + (1 - (m.deadGroups ?? 1)) / curve.length, 0),
    }),
  });

/** No test against the control: only that the agent neither masters a task nor always fails. */
const agentAlone: Recipe = {
  ...xlandOpenEnded,
  build: (settings) => xlandOpenEnded.build(settings, { byChance: 1.01 }),
};

export default defineCheck({
  id: "xland-open-ended",
  level: "shared",
  simpler: ["baseline", "no third test"],
  claim:
    "Tasks that the agent does not master but does better at than a weak control teach more of all tasks than tasks at random, at equal episodes with the tests counted.",
  metric: "probability of the whole secret, exact, mean over all tasks, after 2400 episodes",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  unequalCost: "equal episodes, test episodes counted; a round of tests is played to its end",
  notes:
    "A few more groups have a difference (0.19, at random 0.16). But testing a task takes ten episodes where training on it takes eight an iteration, so that many episodes are not trained on, and the tasks that pass are soon learnt. An earlier design, with ten episodes of each player and secrets of five words, found the same (0.15 at random, 0.05), although 0.45 of its groups had a difference in place of 0.18. Tried on two other seeds: tasks kept for three iterations in place of ten, first chances from 1e-4 in place of 1e-7, and six lengths of sixteen secrets, where the third test refuses the short ones that the others build on; tasks at random came further in each.",
  baseline: arm("tasks at random", grpo),
  method: arm("tasks that pass the three tests", xlandOpenEnded),
  others: { "no third test": arm("tasks that pass the first two tests", agentAlone) },
});
