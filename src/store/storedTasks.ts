/** What was trained on: the episodes of each task in each iteration of training, kept when the episodes themselves are not. */
import { type Kysely, sql, type Transaction } from "kysely";
import type { Trajectory } from "../core/types.ts";
import type { Guarded } from "./database.ts";
import type { RunStore } from "./runStoreTypes.ts";
import type { Tables, TaskEpisodesTable, TrajectoriesTable } from "./schema.ts";
import { askedIn } from "./turns.ts";

/** Characters of a task's first words that are kept. */
const mostAsked = 120;
/** Rows of one statement. SQLite takes 32,766 values. */
const atOnce = 500;

/** What is counted of a trajectory. */
export interface Trained extends Pick<TrajectoriesTable, "task" | "role" | "success" | "reward"> {
  readonly turns: Trajectory["turns"];
}

/** Replaces what was trained on in an iteration. */
export async function saveTasks(
  tx: Transaction<Tables>,
  run: string,
  iteration: number,
  trained: readonly Trained[],
): Promise<void> {
  await tx.deleteFrom("task_episodes").where("run", "=", run).where("iteration", "=", iteration).execute();
  const groups = [...Map.groupBy(trained, ({ task, role }) => `${role} ${task}`).values()];
  const counts = groups.map((of) => ({ run, iteration, ...countsOf(of as [Trained, ...Trained[]]) }));
  const tasks = [...new Map(trained.map((one) => [one.task, one])).values()].map(({ task, turns }) => ({
    run,
    task,
    asked: askedIn(turns).slice(0, mostAsked).toWellFormed(),
  }));
  for (let i = 0; i < counts.length; i += atOnce) {
    await tx
      .insertInto("task_episodes")
      .values(counts.slice(i, i + atOnce))
      .execute();
    const named = tasks.slice(i, i + atOnce);
    if (named.length === 0) continue;
    await tx
      .insertInto("task_words")
      .values(named)
      .onConflict((c) => c.columns(["run", "task"]).doNothing())
      .execute();
  }
}

/** One row for trajectories of the same task and role. */
function countsOf(of: readonly [Trained, ...Trained[]]): Omit<TaskEpisodesTable, "run" | "iteration"> {
  const { task, role } = of[0];
  const ends = of.flatMap(({ success }) => success ?? []);
  const rewards = of.flatMap(({ reward }) => reward ?? []);
  return {
    task,
    role,
    episodes: of.length,
    rated: ends.length,
    successes: ends.reduce((a, b) => a + b, 0),
    rewarded: rewards.length,
    reward: rewards.reduce((a, b) => a + b, 0),
    low: rewards.length > 0 ? Math.min(...rewards) : null,
    high: rewards.length > 0 ? Math.max(...rewards) : null,
  };
}

export function storedTasks(
  db: Kysely<Tables>,
  guarded: Guarded,
): Pick<RunStore, "taskBlocks" | "taskWords"> {
  return {
    taskBlocks: (run, width) =>
      guarded(async () => {
        const block = sql<number>`iteration / ${sql.lit(Math.trunc(width))}`;
        const rows = await db
          .selectFrom("task_episodes")
          .select(({ fn }) => [
            block.as("block"),
            "task",
            "role",
            fn.sum<number | string>("episodes").as("episodes"),
            fn.sum<number | string>("rated").as("rated"),
            fn.sum<number | string>("successes").as("successes"),
            fn.sum<number | string>("rewarded").as("rewarded"),
            fn.sum<number | string>("reward").as("reward"),
            fn.countAll<number | string>().as("groups"),
            sql<number | string>`sum(case when episodes > 1 and low = high then 1 else 0 end)`.as("dead"),
          ])
          .where("run", "=", run)
          .groupBy([block, "task", "role"])
          .orderBy(block)
          .orderBy("task")
          .orderBy("role")
          .execute();
        return rows.map(({ block, task, role, rewarded, reward, ...counts }) => ({
          block: Number(block),
          task,
          role,
          // PostgreSQL returns sums as text
          episodes: Number(counts.episodes),
          rated: Number(counts.rated),
          successes: Number(counts.successes),
          groups: Number(counts.groups),
          dead: Number(counts.dead),
          reward: Number(rewarded) === 0 ? Number.NaN : Number(reward) / Number(rewarded),
        }));
      }),

    taskWords: (run) =>
      guarded(async () => {
        const rows = await db
          .selectFrom("task_words")
          .select(["task", "asked"])
          .where("run", "=", run)
          .execute();
        return new Map(rows.map(({ task, asked }) => [task, asked]));
      }),
  };
}
