/** The first view of a task as the teacher of its other views. */
import { hindsightColumns, hindsightOf } from "../../../common/tokens/hindsight.ts";
import type { PrivilegedContext } from "../../../common/tokens/privilegedContext.ts";
import type { Advantage } from "../../../core/slots.ts";
import type { Message, Task } from "../../../core/types.ts";
import { firstViewOf } from "./viewBatches.ts";

/** Prefix of the teacher's notes and columns. */
export const firstView = "first view";

const textOf = ({ prompt }: Pick<Task, "prompt">): string => prompt.map(({ content }) => content).join("\n");

/** The prompt of the first view of an attempt's task, from an iteration on; undefined for first views. */
export const atFirstView =
  (from: number): PrivilegedContext =>
  async (ctx, { task }) => {
    const first = firstViewOf(ctx.task(task));
    return first === undefined || ctx.clock.iteration < from ? undefined : textOf(ctx.task(first));
  };

/** A conversation with the first view's prompt, as one message, in place of the task's own. */
export const asFirstView = (messages: readonly Message[], text: string, { prompt }: Task): Message[] => [
  { role: "user", content: text },
  ...messages.slice(prompt.length),
];

/**
 * Columns from which the distribution under the first view is distilled into the other views. Advantages stay as they are.
 * Paper: "Do Your Best and Get Enough Rest for Continual Learning".
 */
export const otherViews = (): Advantage<null> => ({
  name: "otherViews",
  init: () => null,
  apply: ({ trajectories, notes }, _state, soFar) => ({
    advantages: soFar ?? new Map(),
    next: null,
    stats: {},
    columns: hindsightColumns(
      firstView,
      new Map(
        trajectories.flatMap((t) => {
          const said = hindsightOf(notes, firstView, t);
          return said ? [[t.id, said] as const] : [];
        }),
      ),
    ),
  }),
});
