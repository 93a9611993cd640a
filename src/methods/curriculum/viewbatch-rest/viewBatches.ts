import { type Random, shuffled } from "../../../core/random.ts";
import type { Data } from "../../../core/slots.ts";
import type { Id, Task } from "../../../core/types.ts";
import { type UniformState, uniform } from "../../../data/uniform.ts";

/** Settings of {@link viewBatches}. */
export interface ViewBatchesOptions {
  /** B, rows of a batch: tasks times views. */
  readonly tasks: number;
  /** V, views of each task. Default 4. */
  readonly views?: number;
  /** Share of a prompt's words that a view leaves out; of two or more views the first leaves out half as many. Default 0.1. */
  readonly drop?: number;
}

/** A text without a share of its words, drawn at random; at least one word stays. */
export function withoutSome(text: string, share: number, random: Random): string {
  const words = text.split(/\s+/).filter(Boolean);
  const out = Math.min(words.length - 1, Math.round(share * words.length));
  const gone = new Set(
    shuffled(
      words.map((_, i) => i),
      random,
    ).slice(0, Math.max(0, out)),
  );
  return words.filter((_, i) => !gone.has(i)).join(" ");
}

/** Views of a task, each a task of its own: same answer, other words of the prompt left out. */
export function viewsOf(
  task: Task,
  views: number,
  drop: number,
  random: Random,
  ids: (view: number) => Id,
): Task[] {
  return Array.from({ length: views }, (_, view) => ({
    ...task,
    id: ids(view),
    prompt: task.prompt.map((message, i) => ({
      ...message,
      content: withoutSome(
        message.content,
        view === 0 && views > 1 ? drop / 2 : drop,
        random.split("view", view, i),
      ),
    })),
    metadata: { ...task.metadata, variantOf: task.id, ...(view > 0 && { firstView: ids(0) }) },
  }));
}

/** Id of the first view of the task that a view is of; undefined for the first view itself, and for tasks that are no view. */
export const firstViewOf = ({ metadata: { firstView } }: Task): Id | undefined =>
  typeof firstView === "string" ? firstView : undefined;

/**
 * Batches of V views of each of B/V tasks (at least one), in shuffled passes over all tasks. A task is seen as often as with one view, and
 * comes again after V times as many iterations. Views are drawn anew at each encounter.
 * Paper: "Do Your Best and Get Enough Rest for Continual Learning".
 */
export function viewBatches({ tasks, views = 4, drop = 0.1 }: ViewBatchesOptions): Data<UniformState> {
  const each = uniform({ tasks: Math.max(1, Math.round(tasks / views)) });
  return {
    ...each,
    name: "view batches",
    async choose(ctx, all, state) {
      const chosen = await each.choose(ctx, all, state);
      const { iteration } = ctx.clock;
      return {
        tasks: chosen.tasks.flatMap((task) =>
          viewsOf(
            task,
            views,
            drop,
            ctx.random.split("views", task.id),
            (view) => `${task.id}#view-${iteration}-${view}`,
          ),
        ),
        next: chosen.next,
      };
    },
  };
}
