/** Trains a transformer until every model that the method steps has moved twice. */
import type { Model } from "../../src/core/model.ts";
import type { Stats } from "../../src/core/types.ts";
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
const seconds = 120;

/** Ends a run from within. */
class Enough extends Error {}

/**
 * A transformer with random weights earns nothing, and most methods learn nothing from that: while there is no gradient, it
 * imitates the environment's expert a little, between iterations.
 * @throws if a measurement is not finite, or after 30 iterations or two minutes.
 */
export async function twoUpdates(run: SmokeRun, seed: number): Promise<Moved> {
  const engine = tabularEngine();
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
      async watch({ stats }, _state, policy) {
        iterations++;
        requireFinite(stats);
        gradients = gradientsOf(stats);
        for (const [model, norm] of Object.entries(gradients))
          moves.set(model, (moves.get(model) ?? 0) + Number(norm > leastGradient));
        if (moves.size > 0 && [...moves.values()].every((n) => n >= wanted)) throw new Enough();
        if (iterations === most) throw new Error(`after ${most} iterations: ${movesIn(moves)}`);
        const still = Object.values(gradients).every((norm) => norm <= leastGradient);
        if (still && run.environment.expert) imitated += await imitate(run, engine, policy, seed + imitated);
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

const movesIn = (moves: ReadonlyMap<string, number>): string =>
  moves.size === 0
    ? "no step"
    : [...moves].map(([model, n]) => `${model} has moved ${n} times`).join(", ");

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

/** Two updates towards the expert's actions. @returns their number. */
async function imitate(run: SmokeRun, engine: Engine, policy: Model, seed: number): Promise<number> {
  const method = sft.build({ tasks: 8, learningRate: 1e-2, schedule: "constant", warmUp: 0, minibatches: 1 });
  const onPolicy = { ...engine, create: async () => policy };
  await trainInMemory({ ...run, method, engine: onPolicy, seed, iterations: 2 });
  return 2;
}
