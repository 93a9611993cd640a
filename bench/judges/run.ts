/** One policy in the hackable world, paid by a reward model and followed exactly. */

import type { Model } from "../../src/core/model.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task } from "../../src/core/types.ts";
import { replyProbabilities } from "../../src/diagnose/replyProbabilities.ts";
import type { WatchState } from "../../src/diagnose/watch.ts";
import { anchorDivergence } from "../../src/feedback/anchorDivergence.ts";
import { method } from "../../src/method/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";
import {
  asEvaluator,
  type HackableModels,
  hackableEngine,
  hackableModels,
  paying,
  type RewardOf,
} from "../../src/worlds/arms/hackable.ts";
import { type Hackable, hackable } from "../../src/worlds/hackable.ts";

/** Everything that a run depends on. */
export interface JudgesKey {
  /** What each further word of flattery takes back; 0: nothing to hack. */
  readonly room: number;
  readonly comparisons: number;
  readonly payer: "one" | "mean" | "worst" | "gold";
  /** Coefficient of the KL divergence to the first policy in the reward. */
  readonly pull: number;
  /** Who audits: review labels (1 or 0), or the mean of the reward models that do not pay. */
  readonly audit: "labels" | "models";
  /** Labels an iteration. */
  readonly audits: number;
  readonly seed: number;
}

/** The policy after some iterations, exactly: means over the training requests. */
export interface Point {
  readonly iteration: number;
  /** KL divergence to the first policy, nats a reply. */
  readonly kl: number;
  readonly paid: number;
  readonly gold: number;
}

export interface JudgesRun extends JudgesKey {
  readonly points: readonly Point[];
  /** Iterations after which the watch raised its alarm; null: never. */
  readonly alarm: number | null;
  /** Iterations after which audits were best until then: the weights that a stopped run keeps. */
  readonly best: number | null;
  /** Disagreement of the reward models in the first and the last block. */
  readonly disagreement: readonly [number, number];
  /** What was paid, and what the audits said, in each iteration. Kept by rows that were made since it is asked for. */
  readonly watched?: readonly { readonly paid: number; readonly audit: number }[];
  /** Share of pairs that what pays orders as gold does, among replies of the first policy and of the last one. */
  readonly accuracy: readonly [number, number];
}

export const iterations = 80;
/** Iterations between two looks at the policy, and of a block of the watch. */
export const every = 8;

const payers: Readonly<Record<JudgesKey["payer"], (models: HackableModels, world: Hackable) => RewardOf>> = {
  one: ({ one }) => one,
  mean:
    ({ members }) =>
    (task, reply) =>
      members.reduce((sum, of) => sum + of(task, reply) / members.length, 0),
  worst:
    ({ members }) =>
    (task, reply) =>
      Math.min(...members.map((of) => of(task, reply))),
  gold: (_, { goldOf }) => goldOf,
};

/** Trains; the watch warns and does not stop, so that the whole curve is seen. */
export async function judgesRun(key: JudgesKey): Promise<JudgesRun> {
  const { room, comparisons, payer, pull, audit, audits, seed } = key;
  const world = hackable({ room, seed });
  const models = hackableModels(world, { comparisons, seed });
  const rewardOf = payers[payer](models, world);
  const recipe = method({
    id: "paid",
    family: "judges",
    summary: "paid by a reward model",
    frozen: { reference: {} },
    slots: { feedback: [paying(rewardOf), ...(pull > 0 ? [anchorDivergence({ coefficient: pull })] : [])] },
  });
  const tasks = world.tasks("train");
  const first: Float64Array[] = [];
  const points: Point[] = [];
  let watch: WatchState | null = null;
  const look = async (iteration: number, policy: Model): Promise<void> => {
    points.push(await pointOf({ iteration, policy, tasks, first, world, rewardOf }));
  };
  const { curve, policy } = await trainInMemory({
    environment: world,
    method: recipe.build({ ...plainAscent, tasks: 6, groupSize: 16, learningRate: 3 }),
    engine: hackableEngine(world),
    seed,
    iterations,
    prepare: async (policy) => {
      for (const task of tasks) first.push(await replyProbabilities(policy, task, world.replies));
      await look(0, policy);
    },
    watch: {
      audit: audit === "labels" ? world.reviewer : asEvaluator("other models", payers.mean(models, world)),
      models: models.members.map((model, m) => asEvaluator(`model ${m}`, model)),
      audits,
      every,
      onAlarm: "warn",
    },
    onIteration: async (_done, state, policy) => {
      watch = state.watch;
      if (state.iteration % every === 0) await look(state.iteration, policy);
    },
  });
  const disagreed = curve.map((metrics) => metrics["watch.disagreement"] ?? Number.NaN);
  const over = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;
  const last = await Promise.all(tasks.map((task) => replyProbabilities(policy, task, world.replies)));
  const state = watch as WatchState | null;
  return {
    ...key,
    points,
    alarm: state?.alarm?.iteration ?? null,
    best: state?.best ?? null,
    watched: curve.map((metrics) => ({
      paid: metrics["watch.paid"] ?? Number.NaN,
      audit: metrics["watch.audit"] ?? Number.NaN,
    })),
    disagreement: [over(disagreed.slice(0, every)), over(disagreed.slice(-every))],
    accuracy: [first, last].map((chances, i) =>
      accuracyOf({ chances, tasks, world, rewardOf, seed: i }),
    ) as unknown as readonly [number, number],
  };
}

interface Looked {
  readonly iteration: number;
  readonly policy: Model;
  readonly tasks: readonly Task[];
  readonly first: readonly Float64Array[];
  readonly world: Hackable;
  readonly rewardOf: RewardOf;
}

async function pointOf({ iteration, policy, tasks, first, world, rewardOf }: Looked): Promise<Point> {
  let [kl, paid, gold] = [0, 0, 0];
  for (const [t, task] of tasks.entries()) {
    const chances = await replyProbabilities(policy, task, world.replies);
    chances.forEach((p, i) => {
      const reply = world.replies[i]!;
      kl += p > 0 ? (p * Math.log(p / first[t]![i]!)) / tasks.length : 0;
      paid += (p * rewardOf(task, reply)) / tasks.length;
      gold += (p * world.goldOf(task, reply)) / tasks.length;
    });
  }
  return { iteration, kl, paid, gold };
}

interface Ordered {
  /** Probability of each reply, for each task. */
  readonly chances: readonly Float64Array[];
  readonly tasks: readonly Task[];
  readonly world: Hackable;
  readonly rewardOf: RewardOf;
  readonly seed: number;
}

/** From 2000 pairs of replies whose gold utility differs; NaN where the policy hardly says two such. */
function accuracyOf({ chances, tasks, world, rewardOf, seed }: Ordered): number {
  let [right, of] = [0, 0];
  for (let i = 0; i < 2000; i++) {
    const random = randomStream(seed).split("accuracy", i);
    const t = i % tasks.length;
    const task = tasks[t]!;
    const [a, b] = [random.next(), random.next()].map((u) => world.replies[quantile(chances[t]!, u)]!) as [
      string,
      string,
    ];
    const margin = world.goldOf(task, a) - world.goldOf(task, b);
    if (Math.abs(margin) < 1e-9) continue;
    const said = rewardOf(task, a) - rewardOf(task, b);
    right += said === 0 ? 0.5 : Number(said > 0 === margin > 0);
    of++;
  }
  return of < 20 ? Number.NaN : right / of;
}

/** The first index up to which the probabilities add up to more than u. */
function quantile(chances: Float64Array, u: number): number {
  let sum = 0;
  const at = chances.findIndex((p) => {
    sum += p;
    return sum > u;
  });
  return at < 0 ? chances.length - 1 : at;
}
