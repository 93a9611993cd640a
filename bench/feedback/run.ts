/** One run: training until the budget of feedback is spent, with success by feedback. */
import { setImmediate } from "node:timers/promises";
import type { Environment } from "../../src/env/environment.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import type { Contestant } from "./contestants.ts";
import type { World } from "./worlds.ts";

/** What tells runs apart. */
export interface RunKey {
  readonly world: string;
  readonly method: string;
  /** Share of critiques that are true; 1 for a method without critiquers. */
  readonly accuracy: number;
  readonly learningRate: number;
  readonly seed: number;
  readonly budget: number;
}

export interface Run extends RunKey {
  /** After each iteration, the first before any: feedback spent so far, and success in 0…1. */
  readonly points: readonly (readonly [feedback: number, success: number])[];
  /** Of all that was spent. */
  readonly outcomes: number;
  readonly critiques: number;
  /** Of two answers in one context where the environment has single replies: success of the first, at the end. */
  readonly first?: number;
}

/** What has been looked at so far. */
interface Ledger {
  outcomes: number;
  critiques: number;
}

/**
 * An environment that keeps a ledger: of every outcome that it told anybody, and of every critique.
 * @param each whether answers before the last one are paid as well; else what is paid at the end is all there is.
 */
export function counted(environment: Environment, ledger: Ledger, each: boolean): Environment {
  const { critique } = environment;
  return {
    ...environment,
    async start(task, random) {
      const episode = await environment.start(task, random);
      return {
        observe: () => episode.observe(),
        async act(action) {
          const step = await episode.act(action);
          const { rewards, ...unpaid } = step;
          if (rewards === undefined) return step;
          if (!each && step.end === undefined) return unpaid;
          ledger.outcomes++;
          return step;
        },
        close: async () => episode.close?.(),
      };
    },
    ...(critique && {
      critique: (task, trajectory, wish) => {
        ledger.critiques++;
        return critique.call(environment, task, trajectory, wish);
      },
    }),
  };
}

const rounded = (x: number): number => Math.round(x * 1e4) / 1e4;

/** @throws the reason of `stop` where it was stopped. */
export async function measured(
  world: World,
  contestant: Contestant,
  key: RunKey,
  stop: AbortSignal,
): Promise<Run> {
  const { seed, budget, learningRate, accuracy } = key;
  const { looks, secondLook } = world;
  if (contestant.twice && typeof secondLook === "string") throw new Error(`${world.name}: ${secondLook}`);
  const trained = contestant.twice && typeof secondLook !== "string" ? secondLook : world;
  const ledger: Ledger = { outcomes: 0, critiques: 0 };
  const environment = trained.environment(seed);
  const tasks = environment.tasks("train");
  const engine = world.engine(environment);
  const spent = new AbortController();
  const points: (readonly [number, number])[] = [];
  let first: number | undefined;
  // every iteration looks at each of its eight tasks at least once
  const iterations = Math.ceil(budget / 8);
  try {
    await trainInMemory({
      environment: counted(environment, ledger, contestant.twice ?? false),
      engine,
      method: contestant.build({ learningRate, accuracy, looks, iterations: budget / (8 * looks) }),
      seed,
      iterations,
      stop: AbortSignal.any([stop, spent.signal]),
      prepare: async (policy) => void points.push([0, rounded(await trained.success(policy, tasks))]),
      onIteration: async (_done, _state, policy) => {
        await setImmediate(); // nothing else here waits for the event loop, which hears of Ctrl-C
        const feedback = ledger.outcomes + ledger.critiques;
        points.push([feedback, rounded(await trained.success(policy, tasks))]);
        if (feedback < budget) return;
        if (trained.success !== world.success) first = rounded(await world.success(policy, tasks));
        spent.abort();
      },
    });
  } catch (thrown) {
    if (stop.aborted || !spent.signal.aborted) throw thrown;
  } finally {
    await engine.dispose();
  }
  return { ...key, points, ...ledger, ...(first !== undefined && { first }) };
}
