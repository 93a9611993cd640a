/** The loop in memory: no folder, no store, nothing recorded. For checks and comparisons of small agents. */
import type { Counter } from "../core/counter.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Method } from "../core/slots.ts";
import type { Stats, Task } from "../core/types.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import { assemble } from "./assemble.ts";
import { resolveConfig } from "./config.ts";
import type { TrainStudent } from "./contextParts.ts";
import { evaluate } from "./evaluate.ts";
import type { EvaluationResult } from "./events.ts";
import { limitConcurrency } from "./limit.ts";
import { loop } from "./loop.ts";
import { countEpisode } from "./play.ts";
import { noRecords } from "./records.ts";
import type { Iteration } from "./running.ts";
import type { RunState } from "./state.ts";
import type { WatchOptions } from "./watchOptions.ts";

/** Settings of {@link trainInMemory}. */
export interface TrainInMemoryOptions {
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  readonly seed: number;
  readonly iterations: number;
  /** Training ends after the iteration in which this many episodes have been played. Default: no such limit. */
  readonly episodes?: number;
  /** Longest sequence, in tokens. Default 256. */
  readonly contextTokens?: number;
  /** Done once to the fresh policy, e.g. a few steps of imitation. */
  readonly prepare?: (policy: Model) => Promise<void>;
  /** Called after every iteration. */
  readonly onIteration?: (done: Iteration, state: RunState, policy: Model) => void | Promise<void>;
  /** Watches what the run is paid for. Default: it is not watched. */
  readonly watch?: WatchOptions;
  readonly stop?: AbortSignal;
}

/**
 * Result of {@link trainInMemory}: the learning curve, the cost, and the trained policy, which the caller may go on measuring.
 */
export interface TrainedInMemory {
  /** Metrics of each iteration, as a run records them: `success`, `reward`, `turns`, `entropy`, and those of the pieces. */
  readonly curve: readonly Stats[];
  /** Everything that was counted: `episodes`, `tokens.sampled`, … */
  readonly counters: Readonly<Stats>;
  /** Success of the current policy on tasks of a split. */
  evaluate(split: string, mode?: "sampled" | "greedy", tasks?: number): Promise<EvaluationResult>;
  readonly policy: Model;
}

/** Trains a fresh policy and hands everything back. The engine's models are the caller's to dispose of. */
export async function trainInMemory(options: TrainInMemoryOptions): Promise<TrainedInMemory> {
  const { environment, method, engine, contextTokens = 256, prepare, onIteration, stop = forever } = options;
  const evaluation = { tasks: 0, every: 0 };
  const {
    adjustable,
    watch: _,
    ...config
  } = await resolveConfig({
    ...options,
    contextTokens,
    warmStart: false,
    evaluation,
    checkpointSeconds: Number.POSITIVE_INFINITY,
  });
  const curve: Stats[] = [];
  const run = await assemble(
    {
      ...{ ...config, ...adjustable, name: "in memory", environment, method, engine, trainedShares: {} },
      watch: options.watch,
    },
    {
      records: noRecords,
      report: (event) => void (event.type === "iteration" && curve.push(event.metrics)),
      stop,
      learn: studentsOf(method),
      ...(onIteration && { onIteration }),
    },
  );
  await prepare?.(run.policy);
  await run.beginTraining();
  await loop(run);
  return {
    curve,
    counters: run.state.counters,
    policy: run.policy,
    evaluate: (split, mode = "sampled", tasks = Number.POSITIVE_INFINITY) =>
      run.evaluate(split, mode, tasks, "after"),
  };
}

/** Trains the students that a method declares, each as a run in memory on the given tasks alone. */
export const studentsOf =
  ({ id, students = {} }: Method): TrainStudent =>
  async ({ student, model, tasks, measure, mode = "sampled", iterations, ...within }) => {
    const { environment, random, stop, count } = within;
    const method = students[student];
    if (!method || method.models || method.frozen) {
      throw new WhetstoneError("capability.missing", {
        where: `method "${id}": student "${student}"`,
        got: method
          ? "a student method with auxiliary or frozen models"
          : "a student that the method does not declare",
        expected: `one of ${Object.keys(students).join(", ") || "none, since it declares none"}, with a method that trains the policy only`,
        fix: "Declare it in the method's `students`.",
      });
    }
    const splits: Readonly<Record<string, readonly Task[]>> = { train: tasks, measure };
    const inner = {
      ...environment,
      splits: Object.keys(splits),
      tasks: (split: string) => splits[split] ?? [],
    };
    const { contextTokens, can } = model;
    const engine: Engine = {
      name: "student",
      can,
      create: async () => model,
      open: async () => model,
      dispose: async () => undefined,
    };
    const { seed } = random;
    const asked = { environment: inner, method, engine, seed, iterations, contextTokens, stop };
    const { counters } = await trainInMemory(asked);
    for (const [counter, amount] of Object.entries(counters)) count(counter as Counter, amount);
    const { result, trajectories } = await evaluate({
      ...{ environment: inner, agent: model, split: "measure", mode, tasks: measure.length },
      ...{ random, limit: limitConcurrency(64), stop },
    });
    for (const played of Map.groupBy(trajectories, (t) => t.episode).values())
      countEpisode(played, undefined, count);
    return result.success.mean;
  };

const forever = new AbortController().signal;
