/** Subgoals in words, and what has become of them. */
import { isObject, listOf, textOf } from "../../../core/json.ts";
import type { Random } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";

/** A subgoal: what the agent is told, and a text that its observation contains once it is reached. */
export interface Subgoal extends Readonly<Record<string, string>> {
  readonly say: string;
  readonly sign: string;
}

/** Lists the subgoals of a task in order. It is asked once per task and run. */
export type Advisor = (task: Task, random: Random) => readonly Subgoal[] | Promise<readonly Subgoal[]>;

/** The subgoals that a task lists itself, in `metadata.subgoals`; none where it lists none. */
export const listedSubgoals: Advisor = ({ metadata }) =>
  listOf(metadata.subgoals).flatMap((item) => {
    const [say, sign] = isObject(item) ? [textOf(item.say), textOf(item.sign)] : [];
    return say === undefined || sign === undefined ? [] : [{ say, sign }];
  });

/** An advisor that is wrong with a probability: then it names another of the task's subgoals, with a sign that never shows. */
export const mistaken =
  (advisor: Advisor, chance: number): Advisor =>
  async (task, random) => {
    const right = await advisor(task, random);
    return right.map((subgoal, i) => {
      const luck = random.split("mistake", i);
      if (luck.next() >= chance || right.length < 2) return subgoal;
      const others = right.filter((_, j) => j !== i);
      return { say: others[luck.below(others.length)]!.say, sign: "\u0000" };
    });
  };

/** Progress through subgoals. */
export interface Progress {
  /** Index of the current subgoal; the number of subgoals once none is left. */
  readonly at: number;
  /** Actions since it became the current one. */
  readonly waited: number;
  /** Whether the latest observation showed the sign of the subgoal that was current. */
  readonly reached: boolean;
}

export const noProgress: Progress = { at: 0, waited: 0, reached: false };

/**
 * Progress after an action, by the text that is seen after it. A reached subgoal gives way to the next, and so does one that has
 * waited `patience` actions. One observation reaches one subgoal.
 */
export function progressed(
  { at, waited }: Progress,
  seen: string,
  subgoals: readonly Subgoal[],
  patience: number,
): Progress {
  const current = subgoals[at];
  if (!current) return { at, waited: 0, reached: false };
  if (seen.includes(current.sign)) return { at: at + 1, waited: 0, reached: true };
  return waited + 1 >= patience
    ? { at: at + 1, waited: 0, reached: false }
    : { at, waited: waited + 1, reached: false };
}
