import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import { uniform } from "../../../data/uniform.ts";
import { method, type Recipe } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { secretsEngine, unaidedSuccess } from "../../../worlds/arms/secrets.ts";
import { secrets } from "../../../worlds/secrets.ts";
import { pcl } from "./method.ts";
import { valueChosen } from "./valueChosen.ts";

/** 16 secrets at 8 lengths: tasks from nearly sure to hopeless, which share what is learnt. */
const world = (seed: number) =>
  ({ secrets: 16, lengths: [1, 2, 3, 4, 5, 6, 7, 8], success: [1e-5, 1e-2], seed }) as const;

const arm = (what: string, recipe: Recipe) =>
  trainingArm({
    what,
    recipe,
    environment: (seed) => secrets(world(seed)),
    engine: (seed) => secretsEngine(world(seed)),
    iterations: 50,
    settings: { ...plainAscent, tasks: 12, groupSize: 8 },
    grid: [10, 30, 100, 300, 1000].map((learningRate) => ({ learningRate })),
    metric: ({ policy }, seed) => unaidedSuccess(policy, secrets(world(seed))),
    more: ({ curve }) => ({
      "groups with a difference": curve.reduce((sum, m) => sum + (1 - (m.deadGroups ?? 1)) / curve.length, 0),
    }),
  });

const uniformly = method({
  id: "uniform-mean",
  family: "curriculum",
  summary: "tasks at random, advantages without the deviation",
  slots: { advantage: groupNormalised({ scale: "none" }) },
});

const lastSeen = method({
  id: "last-seen",
  family: "curriculum",
  summary: "tasks whose own last success is nearest to one half",
  slots: ({ tasks }) => ({
    data: valueChosen(uniform({ tasks: 4 * tasks }), { tasks, value: "last seen" }),
    advantage: groupNormalised({ scale: "none" }),
  }),
});

export default defineCheck({
  id: "pcl",
  level: "shared",
  simpler: ["baseline", "last seen"],
  claim:
    "Tasks of a predicted success near one half teach more per attempt than tasks at random, or than those whose last success was near it.",
  metric: "probability of the whole answer, exact, mean over all tasks, after 4800 attempts",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  unequalCost: "equal attempts; the lengths of the chosen tasks decide how many words they take",
  notes:
    "The value model sees the secret's number and the length as words, and their pair. Half of the groups have a difference in place of a third, and at equal steps of 10 to 100 the method is ahead; but tasks at random bear a step three times as large, and with it they come further. Tried on seeds 300 to 302: a pool of 2 in place of 4 bears the large step as well (0.57 after it, tasks at random 0.54); a target of ¼ does worse (0.33), half of the tasks at random no better at a step of 100 (0.44). Tasks of every length share their first words, so that a long one teaches the short ones, which hardly need choosing. Chosen tasks are shorter: they take 18 % fewer words.",
  baseline: arm("tasks at random", uniformly),
  method: arm("tasks by a value model of the prompt", pcl),
  others: { "last seen": arm("tasks by their own last success", lastSeen) },
});
