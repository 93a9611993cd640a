/** The context that slot pieces see, over a run's models, environment and streams. */

import type { Leak } from "../common/text/leaks.ts";
import type { Artefact } from "../core/artefact.ts";
import type { Counter, Ctx, Helper, Play, StatefulHelper } from "../core/context.ts";
import type { Encoder } from "../core/encoder.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Id, ModelId, Role, Stats, Task, Trajectory } from "../core/types.ts";
import type { Environment, Player } from "../env/environment.ts";
import { hashedText } from "../memory/hashedText.ts";
import { playEpisode, type Seat } from "../rollout/episode.ts";
import { modelSeat, seatOf } from "./actor.ts";
import { artefactsIn } from "./artefacts.ts";
import type { Weighted } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import { clockOf, type RunState } from "./state.ts";

export interface ContextParts extends Weighted {
  readonly environment: Environment;
  readonly helpers: ReadonlyMap<string, StatefulHelper<never, never, unknown>>;
  readonly tasks: ReadonlyMap<Id, Task>;
  readonly state: RunState;
  readonly iterations: number;
  /** Default: the state's. */
  readonly phase?: string;
  /** The run's own stream. */
  readonly random: Random;
  readonly journal?: Journal;
  /** What `Ctx.embed` asks. Default: hashed words, which need no model. */
  readonly encoder?: Encoder;
  /** What a candidate gives away of tasks that are held out. Default: nothing is held out. */
  readonly leaksIn?: (artefact: Artefact) => readonly Leak[];
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly stop: AbortSignal;
  /** Shared by all contexts of one iteration. Default: one of its own. */
  readonly book?: EpisodeBook;
  /** Whether it runs beside learning: then it sees nothing that learning changes. */
  readonly alone?: boolean;
}

/** What an iteration's contexts know together: its tasks, and the episodes that have begun. */
export interface EpisodeBook {
  /** Those that are practised, which the data slot may have made, and those that a piece makes. */
  readonly made: Map<Id, Task>;
  readonly begun: Set<Id>;
}

export const episodeBook = (practice: readonly Task[]): EpisodeBook => ({
  made: new Map(practice.map((task) => [task.id, task])),
  begun: new Set(),
});

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

const beside = (what: string): WhetstoneError =>
  new WhetstoneError("capability.missing", {
    where: "a rollout with --staleness",
    got: `a wish for ${what}, which learning changes meanwhile`,
    expected: "rollouts that need the method's models alone",
    mend: "Leave --staleness out.",
  });

/** @param practice the tasks of this iteration. */
export function makeContext(parts: ContextParts, practice: readonly Task[]): Ctx {
  const { environment, state, models, frozen, book = episodeBook(practice), alone = false } = parts;
  const { encoder = hashedText(), leaksIn = () => [] } = parts;
  const { made, begun } = book;
  const random = parts.random.split("iteration", state.iteration);
  const taskOf = (id: Id): Task => {
    const task = made.get(id) ?? parts.tasks.get(id);
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
    if (found && !alone) return found;
    if (found) throw beside(`the frozen model "${name}"`);
    throw missing("frozen model", name, [...frozen.keys()].join(", "));
  };
  const count = (counter: Counter, amount: number): void => {
    state.counters[counter] = (state.counters[counter] ?? 0) + amount;
  };
  const artefacts = artefactsIn(state, leaksIn, count);
  const unavailable = (what: string): never => {
    throw new WhetstoneError("capability.missing", {
      where: what,
      got: "a method that asks for it",
      expected: "a run that has one",
      mend: "This version has none; choose another method.",
    });
  };
  const seat = (role: Role, chosen: Play["models"], mix: Play["mix"]): Seat => {
    const id = chosen?.[role] ?? "policy";
    const talking = models.get(id);
    if (talking?.chat) return seatOf(id, talking);
    const acting = models.get(id) ?? frozenOf(id);
    const mixed = mix && mixedWith(acting, frozenOf(mix.with), mix.share);
    return modelSeat(id, mixed ?? acting, model().contextTokens, parts.stop);
  };
  const playerSeat = (player: Player): Seat => {
    const { chat, codec, contextTokens } = model();
    const tokens = chat ? {} : { codec, contextTokens };
    return { kind: "player", id: "policy", player, ...tokens };
  };

  const scripted = (name: "expert" | "flawed"): Player => {
    const found = environment[name];
    if (found) return found;
    throw new WhetstoneError("capability.missing", {
      where: `environment ${environment.name}`,
      got: `a method that learns from its ${name} player`,
      expected: "an environment with such a player",
      mend: `Give the environment a scripted player ${name}, or choose a method without demonstrations.`,
    });
  };

  async function play({
    task: named,
    attempt,
    together = 1,
    models: chosen,
    mix,
    player: playing,
    program,
    from,
    advice,
    advise,
    artefact = artefacts.current()?.artefact,
    limits,
    temperature,
    constrained,
  }: Play): Promise<readonly Trajectory[]> {
    const task = typeof named === "string" ? taskOf(named) : named;
    if (!parts.tasks.has(task.id)) made.set(task.id, task);
    const player = playing && scripted(playing);
    const name = program?.name ?? playing;
    const tag = name === undefined ? attempt : `${name} ${attempt}`;
    const id = `${state.iteration}/${task.id}/${tag}`;
    if (from && !environment.abilities.has("replay")) {
      throw new WhetstoneError("capability.missing", {
        where: `environment ${environment.name}`,
        got: "an episode that goes on from a turn of another one",
        expected: "an environment with the ability replay",
        mend: "Choose an environment that can replay, or a method that plays each episode from its start.",
      });
    }
    if (begun.has(id)) {
      throw new WhetstoneError("option.range", {
        where: `play of task "${task.id}"`,
        got: `attempt ${attempt} again in iteration ${state.iteration}`,
        expected: "one episode for each task and attempt of an iteration",
        mend: "Give every episode of a task its own attempt, also where advice or from tells them apart.",
      });
    }
    begun.add(id);
    // an environment that can replay draws from its task alone; what is said to one attempt need not be said to another
    const alike = environment.abilities.has("replay") && !from && advice === undefined && !advise;
    const draw =
      alike && attempt < together && together > 1
        ? { seed: random.split("openings", task.id).seed, index: attempt, of: together }
        : undefined;
    const playNow = async (): Promise<readonly Trajectory[]> => {
      parts.stop.throwIfAborted();
      const finished = await playEpisode({
        environment,
        task,
        id,
        seat: (role) => {
          if (program) return { kind: "player", id: "policy", player: program.act };
          return player ? playerSeat(player) : seat(role, chosen, mix);
        },
        random: random.split("episode", task.id, tag),
        ...(draw === undefined ? {} : { draw }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(constrained === undefined ? {} : { constrained }),
        ...(from === undefined ? {} : { from }),
        ...(advice === undefined ? {} : { advice }),
        ...(advise === undefined ? {} : { advise }),
        ...(artefact === undefined || artefact === "none" ? {} : { artefact }),
        ...(limits === undefined ? {} : { limits }),
      });
      await parts.journal?.add(state.iteration, id, finished);
      return finished;
    };
    const played = parts.journal?.find(id) ?? (await parts.limit(playNow));
    if (playing && !program) count("demonstrations", 1);
    else countEpisode(played, from, count);
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
    helper: <In, Label, Out>(name: string): Helper<In, Label, Out> => {
      const found = parts.helpers.get(name);
      if (found && alone) throw beside(`the helper "${name}"`);
      // what a helper takes and gives is between the method's pieces
      if (found) return found as unknown as Helper<In, Label, Out>;
      throw missing(
        "helper",
        name,
        [...parts.helpers.keys()].join(", "),
        "Declare it in the method's `helpers`.",
      );
    },
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
    async prefer(first, second) {
      if (!environment.prefer) {
        throw new WhetstoneError("capability.missing", {
          where: `environment ${environment.name}`,
          got: "a method that learns from preferences",
          expected: "an environment with prefer",
          mend: "Choose an environment that compares trajectories, or a method that learns from rewards.",
        });
      }
      count("judge.calls", 1);
      try {
        return await environment.prefer(taskOf(first.task), first, second);
      } catch {
        // silence, not a tie
        count("judge.failures", 1);
        return undefined;
      }
    },
    async critique(trajectory, wish) {
      if (!environment.critique) {
        throw new WhetstoneError("capability.missing", {
          where: `environment ${environment.name}`,
          got: "a method that learns from critiques",
          expected: "an environment with critique",
          mend: "Choose an environment that criticises trajectories, or a critic that is a model.",
        });
      }
      count("judge.calls", 1);
      try {
        return await environment.critique(taskOf(trajectory.task), trajectory, wish);
      } catch {
        // silence, not a verdict
        count("judge.failures", 1);
        return undefined;
      }
    },
    embed: (texts) => encoder.embed(texts),
    learn: async () => unavailable("learn"),
    memory: {
      get: (key) => state.memory[key],
      set: (key, value) => {
        state.memory[key] = value;
      },
    },
    artefacts,
    count,
  };
}

/** A model that draws from logits of its own and of another. */
function mixedWith(
  acting: Pick<Model, "codec" | "sample">,
  of: Frozen,
  share: number,
): Pick<Model, "codec" | "sample"> {
  return {
    codec: acting.codec,
    sample: (requests) => acting.sample(requests.map((request) => ({ ...request, mix: { of, share } }))),
  };
}

/** Replayed turns are steps of the environment, but no model made them again. */
function countEpisode(
  played: readonly Trajectory[],
  from: Play["from"],
  count: (counter: Counter, amount: number) => void,
): void {
  count("episodes", 1);
  if (played.some((t) => t.end.kind === "failed")) count("episodes.failed", 1);
  for (const { role, turns } of played) {
    const replayed = from?.trajectory.role === role ? Math.min(from.turn, from.trajectory.turns.length) : 0;
    const sampled = turns.slice(replayed);
    count("turns", turns.length);
    count("environment.steps", turns.length);
    count("generations", sampled.length);
    for (const { tokens } of sampled) count("tokens.sampled", tokens?.action.length ?? 0);
  }
}
