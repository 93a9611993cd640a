/** Trains a transformer until every model that the method steps has moved twice. */
import type { Model } from "../../src/core/model.ts";
import { type Stats, succeeded, type Trajectory } from "../../src/core/types.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { sft } from "../../src/methods/baseline/sft/method.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import type { SmokeRun } from "./runs.ts";
import { tabularEngine } from "./tabularEngine.ts";

/** What a smoke run came to. */
export interface Moved {
  readonly iterations: number;
  /** Iterations of imitation before and between them. */
  readonly imitated: number;
  /** Gradient norms of the last iteration, by model. */
  readonly gradients: Readonly<Record<string, number>>;
}

/** Updates that each model has to make. */
const wanted = 2;
/** Iterations until a method that moves nothing has failed. */
const most = 30;
/** A smaller gradient is rounding. */
const leastGradient = 1e-7;
/** A policy that succeeds more often is not warmed up further: attempts that differ teach more. */
const warm = 0.5;
const seconds = 120;

/** Ends a run from within. */
class Enough extends Error {}

/**
 * A transformer with random weights earns nothing, and most methods learn nothing from that: while a model has no gradient,
 * it and the policy imitate the environment's expert a little, between iterations.
 * @throws if a measurement is not finite, or after 30 iterations or two minutes.
 */
export async function twoUpdates(run: SmokeRun, seed: number): Promise<Moved> {
  const { engine, policies } = recorded(tabularEngine());
  const moves = new Map<string, number>();
  let gradients: Readonly<Record<string, number>> = {};
  let [iterations, imitated] = [0, 0];
  try {
    await trainInMemory({
      ...run,
      engine,
      seed,
      iterations: Math.max(run.iterations, most),
      stop: AbortSignal.timeout(1000 * seconds),
      async onIteration({ stats, experience }) {
        iterations++;
        requireFinite(stats);
        gradients = gradientsOf(stats);
        for (const [model, norm] of Object.entries(gradients))
          moves.set(model, (moves.get(model) ?? 0) + Number(norm > leastGradient));
        if (moves.size > 0 && [...moves.values()].every((n) => n >= wanted)) throw new Enough();
        if (iterations === most) throw new Error(`after ${most} iterations: ${movesIn(moves)}`);
        const still = Object.keys(gradients).filter((id) => gradients[id]! <= leastGradient);
        if (!run.environment.expert || (still.length === 0 && moves.size > 0)) return;
        const cold = success(experience.trajectories) < warm ? ["policy"] : [];
        for (const id of new Set([...cold, ...still.filter((id) => id !== "policy")])) {
          const model = policies.get(id);
          if (model) imitated += await imitate(run, engine, model, seed + imitated);
        }
      },
    });
    throw new Error(`its run ended after ${iterations} iterations: ${movesIn(moves)}`);
  } catch (e) {
    if (!(e instanceof Enough)) throw e;
    return { iterations, imitated, gradients };
  } finally {
    await engine.dispose();
  }
}

/** The engine, and the models without heads that it has created, and their forks, by id. */
function recorded(made: Engine) {
  const policies = new Map<string, Model>();
  const create: Engine["create"] = async (request) => {
    const model = await made.create(request);
    if ((request.heads ?? []).length > 0) return model;
    policies.set(request.id, model);
    const fork: Model["fork"] = model.fork.bind(model);
    return Object.assign(model, {
      fork: async (optimiser: "copy" | "fresh", id?: string) => {
        const forked = await fork(optimiser, id);
        if (id !== undefined) policies.set(id, forked);
        return forked;
      },
    });
  };
  return { engine: { ...made, create }, policies };
}

/** Share of the sampled trajectories that succeeded. */
function success(trajectories: readonly Trajectory[]): number {
  const own = trajectories.filter(({ origin }) => origin === "sampled");
  return own.filter(succeeded).length / Math.max(1, own.length);
}

const movesIn = (moves: ReadonlyMap<string, number>): string =>
  moves.size === 0 ? "no step" : [...moves].map(([model, n]) => `${model} has moved ${n} times`).join(", ");

function requireFinite(stats: Stats): void {
  const strange = Object.entries(stats).filter(([, value]) => !Number.isFinite(value));
  if (strange.length > 0) throw new Error(`not finite: ${strange.map((x) => x.join(" ")).join(", ")}`);
}

/** Gradient norms by model. An update that steps one model alone does not name it. */
const gradientsOf = (stats: Stats): Record<string, number> =>
  Object.fromEntries(
    Object.entries(stats).flatMap(([name, value]) => {
      const found = /^(?:(.+)\.)?gradientNorm$/.exec(name);
      return found ? [[found[1] ?? "policy", value]] : [];
    }),
  );

/** Two updates of a model towards the expert's actions. @returns their number. */
async function imitate(run: SmokeRun, engine: Engine, model: Model, seed: number): Promise<number> {
  const method = sft.build({ tasks: 8, learningRate: 1e-2, schedule: "constant", warmUp: 0, minibatches: 1 });
  const onPolicy = { ...engine, create: async () => model };
  await trainInMemory({ ...run, method, engine: onPolicy, seed, iterations: 2 });
  return 2;
}
