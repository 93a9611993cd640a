/** One policy in the arena of instructions, taught by a judge of known accuracy and bias, and the judges. */
import { join } from "node:path";
import { instructions } from "../../src/arenas/instructions/arena.ts";
import { enough, impression, utility } from "../../src/arenas/instructions/judging.ts";
import type { Instruction } from "../../src/arenas/instructions/tasks.ts";
import { sigmoid } from "../../src/common/statistics/logistic.ts";
import { mean } from "../../src/common/statistics/statistics.ts";
import { randomStream } from "../../src/core/random.ts";
import type { Task, Trajectory } from "../../src/core/types.ts";
import { localEngine } from "../../src/engine/local/index.ts";
import type { Environment } from "../../src/env/environment.ts";
import { winRates } from "../../src/feedback/winRates.ts";
import { method, type Recipe } from "../../src/method/method.ts";
import { dpo } from "../../src/methods/baseline/dpo/method.ts";
import { evaluate } from "../../src/train/evaluate.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";

/** Shares of the raters whom a judge is drawn from, anew for each comparison; the rest toss a coin. */
interface Judge {
  /** Go by the hidden utility. */
  readonly careful: number;
  /** Go by the impression, which can be flattered. */
  readonly hurried: number;
}

/** "noisy" and "biased" are right about as often. */
export const judges: Readonly<Record<string, Judge>> = {
  careful: { careful: 1, hurried: 0 },
  noisy: { careful: 0.6, hurried: 0 },
  biased: { careful: 0.45, hurried: 0.55 },
};

/** GRPO, paid what share of its group the judge prefers an attempt to. */
const paidByWins = method({
  id: "paid-by-wins",
  family: "judges",
  summary: "GRPO on win rates within the group",
  slots: { feedback: winRates({ less: 0.5 }) },
});

/** Methods that learn from comparisons, with the step size that was chosen in the arena for them, or for GRPO. */
export const learners: Readonly<Record<string, { readonly recipe: Recipe; readonly rate: number }>> = {
  dpo: { recipe: dpo, rate: 0.0004 },
  "GRPO on win rates": { recipe: paidByWins, rate: 0.001 },
};

/** Everything that a run depends on. */
export interface ArenaKey {
  readonly judge: string;
  readonly learner: string;
  readonly seed: number;
}

/** Means over the test tasks, one sampled reply each. */
export interface ArenaRow extends ArenaKey {
  /** Share of replies with a utility of 0.75 or more. */
  readonly success: number;
  readonly utility: number;
  readonly impression: number;
}

const replyOf = ({ turns }: Trajectory): string => turns.at(-1)?.action.content ?? "";
const sharpness = 8;

/** Probability that the judge prefers the first reply. */
function preference({ careful, hurried }: Judge, of: Instruction, first: string, second: string): number {
  const by = (worth: typeof utility): number => sigmoid(sharpness * (worth(of, first) - worth(of, second)));
  return careful * by(utility) + hurried * by(impression) + (1 - careful - hurried) / 2;
}

const instructionOf = ({ metadata }: Task): Instruction => metadata as unknown as Instruction;

/** Trains for the arena's budget from its start. */
export async function arenaRun(key: ArenaKey): Promise<ArenaRow> {
  const { budget, folder } = instructions;
  const { recipe, rate } = learners[key.learner]!;
  const judge = judges[key.judge]!;
  const world = instructions.environment();
  const environment: Environment = {
    ...world,
    prefer: async (task, first, second) =>
      preference(judge, instructionOf(task), replyOf(first), replyOf(second)),
  };
  const engine = localEngine({ from: join(folder, "start"), threads: 1 });
  try {
    const { tasks, groupSize, iterations, contextTokens } = budget;
    const { policy } = await trainInMemory({
      environment,
      method: recipe.build({ learningRate: rate, tasks, groupSize }),
      engine,
      seed: key.seed,
      iterations,
      contextTokens,
    });
    const { trajectories } = await evaluate({
      environment,
      agent: policy,
      split: "test",
      mode: "sampled",
      tasks: Number.POSITIVE_INFINITY,
      random: randomStream(key.seed).split("judged"),
      limit: (work) => work(),
    });
    const byId = new Map(environment.tasks("test").map((task) => [task.id, instructionOf(task)]));
    const worths = trajectories.map((t) => {
      const of = byId.get(t.task)!;
      return { utility: utility(of, replyOf(t)), impression: impression(of, replyOf(t)) };
    });
    return {
      ...key,
      success: mean(worths.map((worth) => Number(worth.utility >= enough))),
      utility: mean(worths.map((worth) => worth.utility)),
      impression: mean(worths.map((worth) => worth.impression)),
    };
  } finally {
    await engine.dispose();
  }
}

/**
 * How a judge orders pairs of replies of the flawed player, which the start imitates: the probability that it prefers the one of higher
 * utility, and, where utility and impression contradict each other, the one of higher impression. Exact for 4000 pairs.
 */
export function judged(name: string): { readonly accuracy: number; readonly flattered: number } {
  const judge = judges[name]!;
  const environment = instructions.environment();
  const tasks = environment.tasks("train");
  const right: number[] = [];
  const flattered: number[] = [];
  for (let i = 0; i < 4000; i++) {
    const random = randomStream(1).split("pair", i);
    const task = tasks[random.below(tasks.length)]!;
    const [a, b] = ["a", "b"].map((one) => environment.flawed!(task, [], random.split(one))) as [
      string,
      string,
    ];
    const of = instructionOf(task);
    const [by, looks] = [utility, impression].map((worth) => worth(of, a) - worth(of, b)) as [number, number];
    if (Math.abs(by) < 1e-9) continue;
    const first = preference(judge, of, a, b);
    right.push(by > 0 ? first : 1 - first);
    if (by * looks < -1e-9) flattered.push(looks > 0 ? first : 1 - first);
  }
  return { accuracy: mean(right), flattered: mean(flattered) };
}
