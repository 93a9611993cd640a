/** The context that slot pieces see, over a run's models, environment and streams. */
import type { Counter, Ctx, Play } from "../core/context.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Id, ModelId, Role, Stats, Task, Trajectory } from "../core/words.ts";
import type { Environment } from "../env/environment.ts";
import { playEpisode, type Seat } from "../rollout/episode.ts";
import type { Weighted } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import { modelSeat } from "./seat.ts";
import { clockOf, type RunState } from "./state.ts";

export interface ContextParts extends Weighted {
  readonly environment: Environment;
  readonly tasks: ReadonlyMap<Id, Task>;
  readonly state: RunState;
  readonly iterations: number;
  /** Default: the state's. */
  readonly phase?: string;
  /** The run's own stream. */
  readonly random: Random;
  readonly journal?: Journal;
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly stop: AbortSignal;
}

function missing(
  where: string,
  name: string,
  known: string,
  mend = "Declare it in the method's `models` or `frozen`.",
): WhetstoneError {
  return new WhetstoneError("capability.missing", {
    where,
    got: `a wish for "${name}"`,
    expected: known === "" ? "none, since there are none" : `one of ${known}`,
    mend,
  });
}

/** @param practice the tasks of this iteration. */
export function makeContext(parts: ContextParts, practice: readonly Task[]): Ctx {
  const { environment, state, models, frozen } = parts;
  const random = parts.random.split("iteration", state.iteration);
  /** Tasks that a piece made on the way. */
  const made = new Map<Id, Task>();
  const taskOf = (id: Id): Task => {
    const task = parts.tasks.get(id) ?? made.get(id);
    if (task) return task;
    throw missing(
      "task",
      id,
      `the run's ${parts.tasks.size} tasks`,
      "Play a new task by its value, not its id.",
    );
  };
  const model = (id: ModelId = "policy"): Model => {
    const found = models.get(id);
    if (found) return found;
    throw missing("model", id, [...models.keys()].join(", "));
  };
  const frozenOf = (name: string): Frozen => {
    const found = frozen.get(name);
    if (found) return found;
    throw missing("frozen model", name, [...frozen.keys()].join(", "));
  };
  const count = (counter: Counter, amount: number): void => {
    state.counters[counter] = (state.counters[counter] ?? 0) + amount;
  };
  const unavailable = (what: string): never => {
    throw new WhetstoneError("capability.missing", {
      where: what,
      got: "a method that asks for it",
      expected: "a run that has one",
      mend: "This version has none; choose another method.",
    });
  };
  const seat = (role: Role, chosen: Play["models"]): Seat => {
    const id = chosen?.[role] ?? "policy";
    return modelSeat(id, models.get(id) ?? frozenOf(id), model().contextTokens, parts.stop);
  };

  async function play({
    task: named,
    attempt,
    models: chosen,
    from,
    advice,
    temperature,
  }: Play): Promise<readonly Trajectory[]> {
    const task = typeof named === "string" ? taskOf(named) : named;
    if (!parts.tasks.has(task.id)) made.set(task.id, task);
    const id = `${state.iteration}/${task.id}/${attempt}`;
    const playNow = async (): Promise<readonly Trajectory[]> => {
      parts.stop.throwIfAborted();
      const finished = await playEpisode({
        environment,
        task,
        id,
        seat: (role) => seat(role, chosen),
        random: random.split("episode", task.id, attempt),
        ...(temperature === undefined ? {} : { temperature }),
        ...(from === undefined ? {} : { from }),
        ...(advice === undefined ? {} : { advice }),
      });
      await parts.journal?.add(state.iteration, id, finished);
      return finished;
    };
    const played = parts.journal?.find(id) ?? (await parts.limit(playNow));
    countEpisode(played, count);
    return played;
  }

  return {
    clock: clockOf(state, parts.iterations, parts.phase),
    random,
    practice,
    exposures: [],
    task: taskOf,
    model,
    frozen: frozenOf,
    helper: (name) => unavailable(`helper "${name}"`),
    play,
    async verify(trajectory) {
      const task = taskOf(trajectory.task);
      count("verifier.calls", 1);
      let rewards: Stats;
      try {
        rewards = (await environment.verify?.(task, trajectory)) ?? {};
      } catch {
        // silence, not a 0
        count("judge.failures", 1);
        return [];
      }
      return Object.entries(rewards).map(([channel, value]) => ({
        kind: "reward",
        channel,
        value,
        about: [{ trajectory: trajectory.id }],
        source: environment.name,
      }));
    },
    embed: async () => unavailable("embed"),
    learn: async () => unavailable("learn"),
    memory: {
      get: (key) => state.memory[key],
      set: (key, value) => {
        state.memory[key] = value;
      },
    },
    count,
  };
}

function countEpisode(
  played: readonly Trajectory[],
  count: (counter: Counter, amount: number) => void,
): void {
  count("episodes", 1);
  if (played.some((t) => t.end.kind === "failed")) count("episodes.failed", 1);
  for (const { turns } of played) {
    count("turns", turns.length);
    count("environment.steps", turns.length);
    count("generations", turns.length);
    for (const { tokens } of turns) count("tokens.sampled", tokens?.action.length ?? 0);
  }
}
