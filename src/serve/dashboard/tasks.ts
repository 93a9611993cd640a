/** The tasks that a run trained on, for its page. */
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { standings, type TaskState, taskOrders, trainedTasks } from "../../diagnose/tasks.ts";
import type { Run, RunStore } from "../../store/runStore.ts";
import type { Gated } from "../auth.ts";
import { takes } from "../query.ts";
import type { TaskRow, TasksPage } from "./types.ts";
import { json, range } from "./values.ts";

const asked = z.object({
  order: z.enum(["hardest", "progress", "latest", "most"]).default("hardest"),
  standing: z.enum(standings).optional(),
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** `GET /runs/:id/tasks`. @param found the run of this id, or a 404. */
export function taskRoutes(store: RunStore, found: (id: string) => Promise<Run>): Hono<Gated> {
  return new Hono<Gated>().get("/runs/:id/tasks", takes(...Object.keys(asked.shape)), async (c) => {
    const run = await found(c.req.param("id"));
    const read = asked.safeParse(c.req.query());
    if (!read.success) throw new HTTPException(400, { message: z.prettifyError(read.error) });
    const { order, standing, offset, limit } = read.data;
    const { tasks, frontier, width, iterations } = await trainedTasks(store, run.id);
    const fitting = tasks.filter((task) => standing === undefined || task.standing === standing);
    const shown = fitting.toSorted(taskOrders[order]).slice(offset, offset + limit);
    return c.json({
      run: { id: run.id, name: run.name, iterations },
      width,
      frontier,
      tasks: shown.map((task) => rowOf(task, Math.ceil(iterations / width))),
      fitting: fitting.length,
      total: tasks.length,
      offset,
    } satisfies TasksPage);
  });
}

const rowOf = (
  { shares, recent, change, reward, first: _, ...rest }: TaskState,
  blocks: number,
): TaskRow => ({
  ...rest,
  recent: range(recent),
  change: json(change),
  reward: json(reward),
  shares: Array.from({ length: blocks }, (_, block) => shares[block] ?? null),
});
