/** The context that slot pieces see, over a run's models, environment and streams. */

import type { Leak } from "../common/text/leaks.ts";
import type { Artefact } from "../core/artefact.ts";
import type { Ctx, StatefulHelper } from "../core/context.ts";
import type { Counter } from "../core/counter.ts";
import type { Encoder } from "../core/encoder.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Id, Task } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import { environmentEvaluator } from "../evaluator/environment.ts";
import { hashedText } from "../memory/hashedText.ts";
import { artefactsIn } from "./artefacts.ts";
import type { Weighted } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";
import { lookupsOf } from "./lookups.ts";
import { playsOf } from "./play.ts";
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
  /** Those trained on, which the data slot may have made, and those that a piece makes. */
  readonly made: Map<Id, Task>;
  readonly started: Set<Id>;
}

export const episodeBook = (tasks: readonly Task[]): EpisodeBook => ({
  made: new Map(tasks.map((task) => [task.id, task])),
  started: new Set(),
});

/** @param tasks the tasks of this iteration. */
export function makeContext(parts: ContextParts, tasks: readonly Task[]): Ctx {
  const { environment, state, book = episodeBook(tasks) } = parts;
  const { encoder = hashedText(), leaksIn = () => [] } = parts;
  const random = parts.random.split("iteration", state.iteration);
  const count = (counter: Counter, amount: number): void => {
    state.counters[counter] = (state.counters[counter] ?? 0) + amount;
  };
  const lookups = lookupsOf(parts, book.made);
  const artefacts = artefactsIn(state, leaksIn, count);
  const artefact = () => artefacts.current()?.artefact;
  return {
    clock: clockOf(state, parts.iterations, parts.phase),
    random,
    tasks,
    ...lookups,
    play: playsOf({ parts, book, lookups, random, artefact, count }),
    environment: environmentEvaluator(environment),
    embed: (texts) => encoder.embed(texts),
    learn: () => {
      throw new WhetstoneError("capability.missing", {
        where: "Ctx.learn",
        got: "a method that trains a student inside a run",
        expected: "a method that does not: this version cannot",
        fix: "Choose another method.",
      });
    },
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
