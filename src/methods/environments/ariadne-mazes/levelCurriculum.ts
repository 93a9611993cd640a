import type { Random } from "../../../core/random.ts";
import { shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import { type Id, succeeded, type Task } from "../../../core/types.ts";

/** Settings of {@link levelCurriculum}. */
export interface LevelCurriculumOptions {
  /** Tasks per iteration. Default 8. */
  readonly tasks?: number;
  /** Difficulty of a task: an integer, higher is harder. Default: its metadata `level`, or 0. */
  readonly level?: (task: Task) => number;
  /** Band of success rates in which a level is trained, in [0, 1]; above the second it is mastered. Default 0.2 and 0.8. */
  readonly band?: readonly [low: number, high: number];
  /** Probability, per task, of drawing from a mastered level. Default 0.15. */
  readonly review?: number;
  /** Weight of an iteration in the running success of its levels, in (0, 1]. Default 0.3. */
  readonly rate?: number;
}

/** Running success of the levels. */
export interface LevelState extends Readonly<Record<string, Readonly<Record<string, number>>>> {
  /** Running success by level; absent for levels never trained. */
  readonly success: Readonly<Record<string, number>>;
  /** Level of each task of this iteration, by its id. */
  readonly trained: Readonly<Record<Id, number>>;
}

/** Levels from easy to hard, and which of them to train. */
export interface Ladder {
  readonly open: readonly number[];
  readonly mastered: readonly number[];
}

/**
 * The levels to train: those whose success lies in the band; without any, the easiest that is not mastered. Once all are
 * mastered, all levels.
 */
export function ladder(
  levels: readonly number[],
  success: Readonly<Record<string, number>>,
  [low, high]: readonly [number, number],
): Ladder {
  const sorted = [...new Set(levels)].sort((a, b) => a - b);
  const mastered = sorted.filter((level) => (success[level] ?? 0) > high);
  const within = sorted.filter((level) => (success[level] ?? -1) >= low && !mastered.includes(level));
  const left = sorted.filter((level) => !mastered.includes(level));
  if (left.length === 0) return { open: sorted, mastered };
  return { open: within.length > 0 ? within : left.slice(0, 1), mastered };
}

/**
 * Easy levels first: once a level is mastered the next one follows, and mastered levels are reviewed in a share of the
 * tasks, so that they are not forgotten.
 *
 *     success[l] ← (1 − rate) · success[l] + rate · share of the iteration's attempts at level l that succeeded
 *
 * The first iteration at a level initialises its success. A task occurs at most once per iteration; a level with fewer
 * tasks than were drawn for it makes the iteration smaller. Failed episodes and demonstrations do not count.
 * Paper: "Ariadne: A Controllable Framework for Probing and Extending VLM Reasoning Boundaries".
 */
export function levelCurriculum(options: LevelCurriculumOptions = {}): Data<LevelState> {
  const {
    tasks: perIteration = 8,
    level = statedLevel,
    band = [0.2, 0.8],
    review = 0.15,
    rate = 0.3,
  } = options;
  return {
    name: "levelCurriculum",
    init: () => ({ success: {}, trained: {} }),
    choose: async ({ random }, tasks, { success, trained: before }) => {
      const byLevel = Map.groupBy(tasks, level);
      const { open, mastered } = ladder([...byLevel.keys()], success, band);
      const chosen = Array.from({ length: Math.min(perIteration, tasks.length) }, (_, i) => {
        const draw = random.split("level", i);
        const from = mastered.length > 0 && draw.next() < review ? mastered : open;
        return from[draw.below(from.length)]!;
      });
      const training = [...Map.groupBy(chosen, (l) => l)].flatMap(([l, wanted]) =>
        drawn(byLevel.get(l) ?? [], wanted.length, random.split("tasks", l)),
      );
      // these tasks may be observed only after the next choice
      const trained = { ...before, ...Object.fromEntries(training.map((task) => [task.id, level(task)])) };
      return { tasks: training, next: { success, trained } };
    },
    observe: async (_ctx, { trajectories }, { success, trained }) => {
      const made = trajectories.filter((t) => t.origin !== "demonstrated" && t.end.kind !== "failed");
      const next = { ...success };
      for (const [l, tried] of Map.groupBy(made, (t) => trained[t.task])) {
        if (l === undefined) continue;
        const share = tried.filter(succeeded).length / tried.length;
        const before = success[l];
        next[l] = before === undefined ? share : (1 - rate) * before + rate * share;
      }
      const seen = new Set(trajectories.map((t) => t.task));
      return {
        success: next,
        trained: Object.fromEntries(Object.entries(trained).filter(([task]) => !seen.has(task))),
      };
    },
  };
}

const statedLevel = ({ metadata }: Task): number => Number(metadata.level ?? 0);

/** Draws this many tasks without replacement; all of them if there are fewer. */
const drawn = (tasks: readonly Task[], wanted: number, random: Random): readonly Task[] =>
  shuffled(tasks, random).slice(0, wanted);
