import type { Json } from "../../../core/json.ts";
import type { Data } from "../../../core/slots.ts";
import { succeeded } from "../../../core/types.ts";
import { formatsOf, originalOf, posed } from "../../../data/variants.ts";

/** Settings of {@link climbing}. */
export interface ClimbingOptions {
  /** Mean success above which a task moves to the next harder format, in [0, 1). Default 0.5. */
  readonly threshold?: number;
  /** Visits at a format that the mean is over. Default 1. */
  readonly window?: number;
}

/** A task's place on its ladder of formats. */
export interface Rung extends Readonly<Record<string, Json>> {
  /** Index into its formats, from the easiest. */
  readonly level: number;
  /** Mean success of the last visits at this level, oldest first. */
  readonly recent: readonly number[];
  /** Times that it was chosen. */
  readonly visits: number;
}

/** Rungs by task, and the state of the piece that chooses the tasks. */
export interface ClimbingState<State extends Json> extends Readonly<Record<string, Json>> {
  readonly rungs: Readonly<Record<string, Rung>>;
  readonly each: State;
}

const lowest: Rung = { level: 0, recent: [], visits: 0 };

/**
 * Asks each task that `each` chooses in the format that it has climbed to:
 *
 *     level(q) = 0 at first;  after a visit whose success is s:  h ← the last W values of s at this level
 *     if |h| = W and mean h > θ:  level(q) ← level(q) + 1, h ← {}
 *
 * A task never moves down, and stays at its last format, which is the task itself. Tasks without formats are asked as they
 * are. Success counts correct answers alone, not rewards for form; a visit whose episodes all failed counts for nothing.
 * θ has to exceed the chance of a guess in the easiest format.
 * Paper: "Cog-DRIFT: Exploration on Adaptively Reformulated Instances Enables Learning from Hard Reasoning Problems".
 */
export function climbing<State extends Json>(
  each: Data<State>,
  { threshold = 0.5, window = 1 }: ClimbingOptions = {},
): Data<ClimbingState<State>> {
  return {
    name: `${each.name}, in formats`,
    init: (tasks) => ({ rungs: {}, each: each.init(tasks) }),
    async choose(ctx, tasks, state) {
      const chosen = await each.choose(ctx, tasks, state.each);
      const rungs: Record<string, Rung> = { ...state.rungs };
      const asked = chosen.tasks.map((task) => {
        const format = formatsOf(task)[rungs[task.id]?.level ?? 0];
        if (format === undefined) return task;
        const { visits, ...rung } = rungs[task.id] ?? lowest;
        rungs[task.id] = { ...rung, visits: visits + 1 } as Rung;
        return posed(task, format, visits);
      });
      return { tasks: asked, next: { rungs, each: chosen.next } };
    },
    async observe(ctx, annotated, state) {
      const rungs: Record<string, Rung> = { ...state.rungs };
      const ended = annotated.trajectories.filter(({ end }) => end.kind !== "failed");
      for (const [id, attempts] of Map.groupBy(ended, (t) => t.task)) {
        const original = originalOf(ctx, id);
        const rung = rungs[original];
        if (!rung) continue;
        const share = attempts.filter(succeeded).length / attempts.length;
        const recent = [...rung.recent, share].slice(-window);
        const mean = recent.reduce((a, b) => a + b, 0) / recent.length;
        const last = formatsOf(ctx.task(id)).length - 1;
        const climbs = recent.length === window && mean > threshold && rung.level < last;
        rungs[original] = climbs ? { ...rung, level: rung.level + 1, recent: [] } : { ...rung, recent };
      }
      return { rungs, each: await each.observe(ctx, annotated, state.each) };
    },
  };
}
