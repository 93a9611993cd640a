/** The loop in memory: no folder, no store, nothing recorded. For checks and comparisons of small agents. */
import type { Counter } from "../core/counter.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import { randomStream } from "../core/random.ts";
import type { Method } from "../core/slots.ts";
import type { Stats, Task } from "../core/types.ts";
import type { Engine } from "../engine/engine.ts";
import type { Environment } from "../env/environment.ts";
import { currentArtefact, heldOutLeaks } from "./artefacts.ts";
import type { RolloutRun } from "./attempt.ts";
import { type AuxiliaryModels, addAuxiliaryModels, blendAll } from "./auxiliaryModels.ts";
import { makeContext, type TrainStudent } from "./context.ts";
import { evaluate } from "./evaluate.ts";
import type { EvaluationResult } from "./events.ts";
import { limitConcurrency } from "./limit.ts";
import { iterate } from "./loop.ts";
import { metricsOf } from "./metrics.ts";
import { countEpisode } from "./play.ts";
import type { Iteration } from "./running.ts";
import { freshState, type RunState } from "./state.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Settings of {@link trainInMemory}. */
export interface TrainInMemoryOptions {
  readonly environment: Environment;
  readonly method: Method;
  readonly engine: Engine;
  readonly seed: number;
  readonly iterations: number;
  /** Training ends with the iteration in which so many episodes have been played. Default: no such limit. */
  readonly episodes?: number;
  /** Longest sequence, in tokens. Default 256. */
  readonly contextTokens?: number;
  /** Done once to the fresh policy, e.g. a few steps of imitation. */
  readonly prepare?: (policy: Model) => Promise<void>;
  /** Sees every iteration as it is done. */
  readonly onIteration?: (done: Iteration, state: RunState, policy: Model) => void | Promise<void>;
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
  /** Success of the policy as it is now, on tasks of a split. */
  evaluate(split: string, mode?: "sampled" | "greedy", tasks?: number): Promise<EvaluationResult>;
  readonly policy: Model;
}

/** Trains a fresh policy and hands everything back. The engine's models are the caller's to dispose of. */
export async function trainInMemory(options: TrainInMemoryOptions): Promise<TrainedInMemory> {
  const { environment, method, engine, seed, iterations, contextTokens = 256, stop = forever } = options;
  const random = randomStream(seed);
  const vocabulary = vocabularyOf(environment, method);
  const create = (id: string, heads: readonly string[] = []): Promise<Model> =>
    engine.create({
      id,
      seed: random.split("model").seed,
      vocabulary,
      contextTokens,
      ...(heads.length > 0 ? { heads } : {}),
    });
  const policy = await create("policy");
  await options.prepare?.(policy);
  const further: AuxiliaryModels = {
    models: new Map([["policy", policy]]),
    frozen: new Map(),
    helpers: new Map(),
  };
  const state = freshState("train");
  await addAuxiliaryModels(method, further, state, { create, random });
  const tasks = environment.tasks("train");
  const byId = new Map(tasks.map((t) => [t.id, t]));
  const limit = limitConcurrency(64);
  const leaksIn = heldOutLeaks(environment);
  const run: RolloutRun = {
    settings: { method, iterations },
    state,
    random,
    stop,
    tasks,
    context: (tasks, phase, over = {}) =>
      makeContext(
        {
          ...further,
          environment,
          tasks: byId,
          state,
          iterations,
          random,
          limit,
          stop,
          leaksIn,
          learn: studentsOf(method),
          ...(phase === undefined ? {} : { phase }),
          ...over,
        },
        tasks,
      ),
    settle: () => blendAll(method, further),
  };
  const curve: Stats[] = [];
  const { episodes = Number.POSITIVE_INFINITY } = options;
  while (state.iteration < iterations && (state.counters.episodes ?? 0) < episodes) {
    stop.throwIfAborted();
    const done = await iterate(run);
    curve.push(metricsOf(done, state));
    await options.onIteration?.(done, state, policy);
  }
  return {
    curve,
    counters: state.counters,
    policy,
    evaluate: async (split, mode = "sampled", count = Number.POSITIVE_INFINITY) => {
      const artefact = currentArtefact(state)?.artefact;
      const told = artefact ? { artefact } : {};
      const asked = { environment, agent: policy, split, mode, tasks: count, random, limit, stop, ...told };
      return (await evaluate(asked)).result;
    },
  };
}

/** Trains the students that a method declares, each as a run in memory on the given tasks alone. */
export const studentsOf =
  ({ id, students = {} }: Method): TrainStudent =>
  async ({ student, model, tasks, measure, iterations, environment, random, stop, count }) => {
    const method = students[student];
    if (!method || method.models || method.frozen) {
      throw new WhetstoneError("capability.missing", {
        where: `method "${id}": student "${student}"`,
        got: method
          ? "a method with models beside the one that learns"
          : "a student that it does not declare",
        expected: `one of ${Object.keys(students).join(", ") || "none, since it declares none"}, trained by a method without such models`,
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
      ...{ environment: inner, agent: model, split: "measure", mode: "sampled", tasks: measure.length },
      ...{ random, limit: limitConcurrency(64), stop },
    });
    for (const played of Map.groupBy(trajectories, (t) => t.episode).values())
      countEpisode(played, undefined, count);
    return result.success.mean;
  };

const forever = new AbortController().signal;
