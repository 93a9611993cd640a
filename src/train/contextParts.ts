/** The parts of which the context of slot pieces is made. */
import type { Leak } from "../common/text/leaks.ts";
import type { Artefact } from "../core/artefact.ts";
import type { InnerRun, StatefulHelper } from "../core/context.ts";
import type { Counter } from "../core/counter.ts";
import type { Encoder } from "../core/encoder.ts";
import type { Random } from "../core/random.ts";
import type { Id, Task } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import type { Weighted } from "./checkpoint.ts";
import type { HeldOut } from "./heldOut.ts";
import type { Journal } from "./journal.ts";
import type { RunState } from "./state.ts";

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
  /** Encoder of `Ctx.embed`. Default: hashed words, which need no model. */
  readonly encoder?: Encoder;
  /** Held-out answers that a candidate artefact contains. Default: none. */
  readonly leaksIn?: (artefact: Artefact) => readonly Leak[];
  /** Tasks that may not be trained on. Default: all may. */
  readonly heldOut?: HeldOut;
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly stop: AbortSignal;
  /** Says what is wrong with an evaluator; see `EvaluatorRun.warn`. Default: nobody hears it. */
  readonly warn?: (evaluator: string, problem: string) => void;
  /** Shared by all contexts of one iteration. Default: one of its own. */
  readonly book?: EpisodeBook;
  /** Trains students. Default: there are none. */
  readonly learn?: TrainStudent;
  /** Whether it runs during updates; it then has no access to what updates change. */
  readonly alone?: boolean;
}

/** A student with its tasks, by value. */
export interface StudentRun extends Omit<InnerRun, "tasks" | "measure"> {
  readonly tasks: readonly Task[];
  readonly measure: readonly Task[];
  readonly environment: Environment;
  readonly random: Random;
  readonly stop: AbortSignal;
  readonly count: (counter: Counter, amount: number) => void;
}

/** Trains a student in memory. @returns its share of successes. */
export type TrainStudent = (run: StudentRun) => Promise<number>;

/** State that the contexts of one iteration share: its tasks, and the episodes that have started. */
export interface EpisodeBook {
  /** Those trained on, which the data slot may have made, and those that a piece makes. */
  readonly made: Map<Id, Task>;
  readonly started: Set<Id>;
}

export const episodeBook = (tasks: readonly Task[]): EpisodeBook => ({
  made: new Map(tasks.map((task) => [task.id, task])),
  started: new Set(),
});
