/** How different what a run tries is: answers to one task, and tasks that it writes itself. */
import { mean } from "../common/statistics/statistics.ts";
import type { Id, Stats, Task, Trajectory } from "../core/types.ts";

/**
 * Mean over tasks and roles with several sampled attempts of (different answers − 1) / (attempts − 1): 1 where no two are alike, 0 where all are. The answer
 * is the last action, without blanks at its ends; long replies differ even where they mean the same. Undefined where nothing was tried twice.
 */
export function answerDiversity(trajectories: readonly Trajectory[]): number | undefined {
  const own = trajectories.filter(
    ({ origin, end, turns }) => origin === "sampled" && end.kind !== "failed" && turns.length > 0,
  );
  const groups = [...Map.groupBy(own, ({ task, role }) => `${role} ${task}`).values()].filter(
    ({ length }) => length > 1,
  );
  if (groups.length === 0) return undefined;
  return mean(
    groups.map((all) => {
      const answers = new Set(all.map(({ turns }) => turns.at(-1)!.action.content.trim()));
      return (answers.size - 1) / (all.length - 1);
    }),
  );
}

/** Tasks of an iteration that are compared with each other, at most. */
const compared = 64;

/**
 * Mean over pairs of tasks of 1 − |A ∩ B| / |A ∪ B|, of the words of their last messages: 0 where all tasks read alike. Of the first 64. Undefined for
 * fewer than two.
 */
export function taskDiversity(tasks: readonly Task[]): number | undefined {
  const words = tasks
    .slice(0, compared)
    .map(({ prompt }) => new Set((prompt.at(-1)?.content ?? "").split(/\s+/)));
  if (words.length < 2) return undefined;
  const distance = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
    const shared = [...a].filter((word) => b.has(word)).length;
    return 1 - shared / (a.size + b.size - shared);
  };
  return mean(words.flatMap((a, i) => words.slice(i + 1).map((b) => distance(a, b))));
}

/** Ids of a run's training tasks, which stay the same. */
const known = new WeakMap<readonly Task[], ReadonlySet<Id>>();

/**
 * The metrics `diversity.answers` ({@link answerDiversity}) and `diversity.proposals` ({@link taskDiversity} of the tasks that the run made); absent where
 * there is nothing to compare.
 * @param tasks of the iteration. @param given the run's training tasks.
 */
export function diversityOf(
  trajectories: readonly Trajectory[],
  tasks: readonly Task[],
  given: readonly Task[],
): Stats {
  const ids = known.get(given) ?? new Set(given.map(({ id }) => id));
  known.set(given, ids);
  const answers = answerDiversity(trajectories);
  const proposals = taskDiversity(tasks.filter(({ id }) => !ids.has(id)));
  return {
    ...(answers !== undefined && { "diversity.answers": answers }),
    ...(proposals !== undefined && { "diversity.proposals": proposals }),
  };
}
