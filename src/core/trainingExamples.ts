/** Training examples from served traffic: conversations with their feedback, and examples derived from feedback. */
import type { Logged } from "./served.ts";
import type { Signal } from "./signal.ts";
import type { Id, Task, Trajectory } from "./types.ts";

/** The sources of a derived item, for tracing and for erasure together with its sources. Each id occurs once. */
export interface Provenance {
  readonly sessions: readonly Id[];
  readonly users: readonly Id[];
  readonly responses: readonly Id[];
  readonly signals: readonly Id[];
}

interface ExampleBase {
  readonly id: Id;
  /** The prompt: for a conversation its first prompt, for a single reply everything before it. */
  readonly task: Task;
  readonly from: Provenance;
}

/**
 * A training example from production traffic: a conversation with its feedback, or what was derived from feedback on a
 * single reply.
 */
export type TrainingExample = ExampleBase &
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
    /** A reply to imitate: one that a person wrote as the correct one, preferred, or rated good. */
    | { readonly kind: "demonstration"; readonly source: string; readonly shown: Trajectory }
    /** A single reply that was rated good or bad. */
    | {
        readonly kind: "rating";
        readonly channel: string;
        readonly source: string;
        readonly reply: Trajectory;
        readonly good: boolean;
      }
  );
/** Distinguishes the forms of a training example from production traffic. */
export type TrainingExampleKind = TrainingExample["kind"];
/** Every kind of training example from production traffic. */
export const trainingExampleKinds = ["conversation", "pair", "demonstration", "rating"] as const;

/** The trajectories of a training example; for a pair, the chosen one comes first. */
export function trajectoriesOf(example: TrainingExample): readonly Trajectory[] {
  switch (example.kind) {
    case "conversation":
      return [example.logged.trajectory];
    case "pair":
      return [example.chosen, example.rejected];
    case "demonstration":
      return [example.shown];
    case "rating":
      return [example.reply];
  }
}

/** The feedback signals of a training example, on its trajectories. A demonstration has none; a rating is 1 or 0. */
export function signalsOf(example: TrainingExample): readonly Signal[] {
  switch (example.kind) {
    case "conversation":
      return example.logged.signals;
    case "pair": {
      const { channel, source, chosen, rejected, strength: value } = example;
      const about = [{ trajectory: chosen.id }, { trajectory: rejected.id }];
      return [{ kind: "preference", channel, source, about, best: 0, value }];
    }
    case "demonstration":
      return [];
    case "rating": {
      const { channel, source, reply, good } = example;
      return [{ kind: "reward", channel, source, about: [{ trajectory: reply.id }], value: Number(good) }];
    }
  }
}

const mark = "logged/";
/** The task id of a prompt from production. */
export const loggedTask = (id: Id): Id => mark + id;
/** Whether a task comes from production. Its data stays in the production store and is copied into no run. */
export const isLogged = (task: Id): boolean => task.startsWith(mark);
