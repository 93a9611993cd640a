import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { succeeded, type Trajectory, type Turn } from "../../../core/types.ts";

/** What a judgement is made of. */
export interface Judgement {
  /** Whether it ended in a verdict, within its limits. */
  readonly formed: boolean;
  readonly right: boolean;
  /** Whether a tool was called at all. */
  readonly called: boolean;
  /** Whether a call told something. */
  readonly worked: boolean;
}

/** Parts of the reward; see {@link graded}. */
export interface Grades {
  /** R_f, for a judgement that ends in a verdict. */
  readonly format: number;
  /** R_try, for a tool that is called. */
  readonly tried: number;
  /** R_a, for a right verdict. */
  readonly right: number;
  /** R_succ, for a right verdict after a call that told something. */
  readonly worked: number;
}

/** 0.3, 0.4, 1 and 1.5 for the four judgements that end in a verdict. */
export const usualGrades: Grades = { format: 0.3, tried: 0.1, right: 0.7, worked: 0.5 };

/**
 * 0 without a verdict; R_f + R_try·[called] for a wrong one; R_f + R_a + R_succ·[a call worked] for a right one. A call pays by itself
 * where the verdict is wrong, and a call that told nothing never adds to a right one.
 */
export function graded({ formed, right, called, worked }: Judgement, grades: Grades = usualGrades): number {
  if (!formed) return 0;
  if (!right) return grades.format + (called ? grades.tried : 0);
  return grades.format + grades.right + (worked ? grades.worked : 0);
}

/** First stage: R_f + R_try·[called]; whether the verdict is right does not matter. */
export const exploring = ({ formed, called }: Judgement, grades: Grades = usualGrades): number =>
  formed ? grades.format + (called ? grades.tried : 0) : 0;

/**
 * Whether an action told something, as the environment says: it could be executed, where it pays `executable`, and led to another state,
 * where states have keys.
 */
export const toldSomething = (turn: Turn, next: Turn): boolean =>
  turn.rewards.executable !== 0 && (turn.stateKey === undefined || next.stateKey !== turn.stateKey);

/** Every turn but the last is a call of a tool, and the last is the verdict. */
export function judgementOf(t: Trajectory): Judgement {
  const calls = t.turns.slice(0, -1);
  return {
    formed: t.end.kind === "done",
    right: succeeded(t),
    called: calls.length > 0,
    worked: calls.some((turn, k) => toldSomething(turn, t.turns[k + 1]!)),
  };
}

/** The reward of each judgement, on channel "outcome". Failed episodes get none. */
export const gradedVerdict =
  (rate: (judgement: Judgement) => number): Feedback =>
  async (_ctx, { trajectories }) =>
    trajectories
      .filter((t) => t.end.kind !== "failed")
      .map((t): Signal => {
        const about = [{ trajectory: t.id }];
        return { kind: "reward", channel: "outcome", about, value: rate(judgementOf(t)), source: "verdict" };
      });
