import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import { randomStream } from "../../../core/random.ts";
import { succeeded, type Task } from "../../../core/types.ts";
import { type Features, type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { controlledMaze } from "../../../env/controlledMaze.ts";
import type { Recipe } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { evaluate } from "../../../train/evaluate.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { averageOf, plainAscent } from "../../../train/trainingArm.ts";
import { grpo } from "../../baseline/grpo/method.ts";
import { ariadneMazes } from "./method.ts";
import { type Attempts, passCurve } from "./passAtK.ts";

const mazes = (seed: number) => controlledMaze({ shape: "steps", seed });

const steps = ["ahead", "right", "back", "left"];

/** Separate features for each side's view and for the goal's direction, so that learning transfers between mazes. */
const features: Features = (seen) => {
  const goal = seen.indexOf("goal");
  const sides = steps.map((step) => `${step} ${seen[seen.indexOf(step) + 2]}`);
  return [
    "any",
    ...sides,
    ...seen
      .slice(goal + 1)
      .filter((word) => steps.includes(word))
      .map((step) => `goal ${step}`),
  ];
};
/** The initial policy is uniform over steps. */
const prior: Prior = (_seen, word) => (steps.includes(word) ? 0 : -1e9);
const engine = tabularEngine({ context: "message", features, prior });

/** Plays this many attempts at each of these tasks. */
async function attempts(policy: Model, seed: number, tasks: readonly Task[], tried: number) {
  const environment = { ...mazes(seed), tasks: () => tasks };
  const right = new Map(tasks.map((task) => [task.id, 0]));
  for (let round = 0; round < tried; round++) {
    const { trajectories } = await evaluate({
      environment,
      agent: policy,
      split: "test",
      mode: "sampled",
      tasks: tasks.length,
      random: randomStream(seed).split("attempts", round),
      limit: (work) => work(),
    });
    for (const t of trajectories) if (succeeded(t)) right.set(t.task, right.get(t.task)! + 1);
  }
  return tasks.map((task): Attempts => ({ tried, right: right.get(task.id)! }));
}

const iterations = 40;

const arm = (recipe: Recipe, what: string): Arm => ({
  what,
  grid: [1, 3, 10, 30].map((learningRate) => ({ learningRate })),
  async measure({ learningRate }, seed) {
    const environment = mazes(seed);
    const tests = environment.tasks("test");
    const base = await engine.create({
      id: "base",
      seed,
      vocabulary: environment.vocabulary!(),
      contextTokens: 1000,
    });
    const untrained = await attempts(base, seed, tests, 64);
    const beyond = tests.filter((_, i) => untrained[i]!.right === 0);
    const { counters, curve, policy } = await trainInMemory({
      environment,
      engine,
      method: recipe.build({ ...plainAscent, tasks: 4, groupSize: 8, learningRate: Number(learningRate) }),
      seed,
      iterations,
      contextTokens: 1000,
    });
    const reached = await attempts(policy, seed + 500, beyond, 8);
    const fresh = await attempts(base, seed + 500, beyond, 8);
    const rate = (of: readonly Attempts[]): number => mean(of.map(({ tried, right }) => right / tried));
    return {
      value: rate(reached),
      cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
      curve: curve.map((m) => m.success ?? Number.NaN),
      more: {
        "mazes that the base never solved": beyond.length,
        "fresh base attempts at them": rate(fresh),
        "pass@8 there": passCurve(reached, [8])[0]!,
        "groups without a signal": averageOf(curve, "deadGroups"),
      },
    };
  },
});

export default defineCheck({
  id: "ariadne-mazes",
  level: "shared",
  claim:
    "A curriculum over levels reaches more of the mazes that the base policy never solved in 64 attempts than uniform practice of as many episodes.",
  metric: "success on mazes of which the base solved none in 64 attempts, after 40 updates",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  tuningSeeds: 2,
  notes:
    "A policy of weights on what is seen to each side, in every maze the same; a step into a wall ends the attempt. Tried on other seeds: a row of the table for each whole outlook, which shares nothing, learnt next to nothing in either arm (0.01 and 0.03). Uniform practice is not expected at 0: it meets the easy levels as well, and what it learns there holds above.",
  baseline: arm(grpo, "GRPO, all levels alike"),
  method: arm(ariadneMazes, "GRPO, levels as they are mastered"),
});
