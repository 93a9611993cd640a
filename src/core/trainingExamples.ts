/** What served traffic teaches: conversations with what was said of them, and what follows from that by itself. */
import type { Logged } from "./served.ts";
import type { Signal } from "./signal.ts";
import type { Id, Task, Trajectory } from "./types.ts";

/** What something was made from, so that it can be found again, and goes when that goes. Each id once. */
export interface Provenance {
  readonly sessions: readonly Id[];
  readonly users: readonly Id[];
  readonly responses: readonly Id[];
  readonly signals: readonly Id[];
}

interface LessonBase {
  readonly id: Id;
  /** What was asked: of a conversation its first prompt, of a single reply all that was said before it. */
  readonly task: Task;
  readonly from: Provenance;
}

export type ServedLesson = LessonBase &
  (
    | { readonly kind: "conversation"; readonly logged: Logged }
    /** Two replies to one prompt, each a trajectory of one turn. `strength`: probability that the label is right. */
    | {
        readonly kind: "pair";
        readonly channel: string;
        readonly source: string;
        readonly chosen: Trajectory;
        readonly rejected: Trajectory;
        readonly strength: number;
      }
    /** A reply that somebody wrote as the right one. */
    | { readonly kind: "demonstration"; readonly source: string; readonly shown: Trajectory }
    /** A single reply that was found good or bad. */
    | {
        readonly kind: "verdict";
        readonly channel: string;
        readonly source: string;
        readonly reply: Trajectory;
        readonly good: boolean;
      }
  );
export type LessonKind = ServedLesson["kind"];
export const lessonKinds = ["conversation", "pair", "demonstration", "verdict"] as const;

/** The trajectories of a lesson; of a pair the chosen one first. */
export function trajectoriesOf(lesson: ServedLesson): readonly Trajectory[] {
  switch (lesson.kind) {
    case "conversation":
      return [lesson.logged.trajectory];
    case "pair":
      return [lesson.chosen, lesson.rejected];
    case "demonstration":
      return [lesson.shown];
    case "verdict":
      return [lesson.reply];
  }
}

/** What was said, at its places in those trajectories. A demonstration says by itself all that it says; a verdict is 1 or 0. */
export function signalsOf(lesson: ServedLesson): readonly Signal[] {
  switch (lesson.kind) {
    case "conversation":
      return lesson.logged.signals;
    case "pair": {
      const { channel, source, chosen, rejected, strength: value } = lesson;
      const about = [{ trajectory: chosen.id }, { trajectory: rejected.id }];
      return [{ kind: "preference", channel, source, about, best: 0, value }];
    }
    case "demonstration":
      return [];
    case "verdict": {
      const { channel, source, reply, good } = lesson;
      return [{ kind: "reward", channel, source, about: [{ trajectory: reply.id }], value: Number(good) }];
    }
  }
}

const mark = "logged/";
/** The id of a task that people asked in production. */
export const loggedTask = (id: Id): Id => mark + id;
/** Whether a task is one of people's: what is known of it stays in the production store, and is copied into no run. */
export const isLogged = (task: Id): boolean => task.startsWith(mark);
