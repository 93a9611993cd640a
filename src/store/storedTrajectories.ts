/** Finds and reads the trajectories of a run. */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { Guarded } from "./database.ts";
import type {
  FoundTrajectory,
  RunStore,
  TrajectoryFilter,
  TrajectorySearch,
  TrajectorySummary,
} from "./runStoreTypes.ts";
import type { Tables, TrajectoriesTable } from "./schema.ts";
import { float32Of } from "./tokens.ts";
import { packedWords, unpackTrajectory } from "./turns.ts";

export function storedTrajectories(
  db: Kysely<Tables>,
  guarded: Guarded,
): Pick<RunStore, "trajectories" | "searchTrajectories" | "searchGroups" | "trajectory"> {
  return {
    trajectories: (run, filter = {}) =>
      guarded(async () => (await selected(db, run, filter).select(summaryColumns).execute()).map(summaryOf)),

    searchTrajectories: (run, search) =>
      guarded(async () => {
        const fitting = searched(db, run, search);
        const { total } = await fitting
          .select((e) => e.fn.countAll<number | string>().as("total"))
          .executeTakeFirstOrThrow();
        const rows = await inOrder(fitting.select(foundColumns), search.order)
          .limit(search.limit)
          .offset(search.offset)
          .execute();
        return { found: rows.map(foundOf), total: Number(total) };
      }),

    searchGroups: (run, search) =>
      guarded(async () => {
        const groups = searched(db, run, search).groupBy(groupColumns);
        const { total } = await db
          .selectFrom(groups.select("task").as("groups"))
          .select((e) => e.fn.countAll<number | string>().as("total"))
          .executeTakeFirstOrThrow();
        const page = await groupsInOrder(groups.select(groupColumns), search.order)
          .limit(search.limit)
          .offset(search.offset)
          .execute();
        const found: FoundTrajectory[][] = [];
        for (const { iteration, phase, task, role } of page) {
          const rows = await searched(db, run, search)
            .where("iteration", "=", iteration)
            .where("phase", "=", phase)
            .where("task", "=", task)
            .where("role", "=", role)
            .select(foundColumns)
            .orderBy("id")
            .limit(mostSiblings)
            .execute();
          found.push(rows.map(foundOf));
        }
        return { found, total: Number(total) };
      }),

    trajectory: (run, filter) =>
      guarded(async () => {
        const row = await selected(db, run, { ...filter, limit: 1 })
          .selectAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        return {
          ...summaryOf(row),
          trajectory: unpackTrajectory(row),
          ...(row.advantage !== null && { advantage: float32Of(row.advantage) }),
        };
      }),
  };
}

function selected(db: Kysely<Tables>, run: string, filter: TrajectoryFilter) {
  let query = db.selectFrom("trajectories").where("run", "=", run);
  if (filter.iteration !== undefined) query = query.where("iteration", "=", filter.iteration);
  if (filter.phase !== undefined) query = query.where("phase", "=", filter.phase);
  if (filter.task !== undefined) query = query.where("task", "=", filter.task);
  if (filter.id !== undefined) {
    const id = filter.id;
    query = query.where((e) => e.fn<string>("substr", ["id", e.val(1), e.val(id.length)]), "=", id);
  }
  if (filter.failed === true)
    query = query.where((e) => e.or([e("end_kind", "!=", "done"), e("success", "=", 0)]));
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  return query.orderBy("iteration").orderBy("phase").orderBy("id");
}

function searched(db: Kysely<Tables>, run: string, search: TrajectorySearch) {
  let query = db.selectFrom("trajectories").where("run", "=", run);
  if (search.from !== undefined) query = query.where("iteration", ">=", search.from);
  if (search.until !== undefined) query = query.where("iteration", "<", search.until);
  if (search.phase !== undefined) query = query.where("phase", "=", search.phase);
  if (search.task !== undefined) query = query.where("task", "=", search.task);
  if (search.least !== undefined) query = query.where("reward", ">=", search.least);
  if (search.most !== undefined) query = query.where("reward", "<=", search.most);
  switch (search.outcome) {
    case undefined:
      break;
    case "success":
    case "no success":
      query = query
        .where("end_kind", "=", "done")
        .where("success", "=", search.outcome === "success" ? 1 : 0);
      break;
    case "done":
      query = query.where("end_kind", "=", "done").where("success", "is", null);
      break;
    default:
      query = query.where("end_kind", "=", search.outcome);
  }
  if (search.text) {
    // as it stands in the JSON that holds the transcript
    const written = JSON.stringify(search.text.toLowerCase()).slice(1, -1);
    const pattern = `%${written.replaceAll(/[!%_]/g, "!$&")}%`;
    query = query.where(sql<boolean>`lower(data) like ${pattern} escape '!'`);
  }
  return query;
}

function inOrder<T>(query: SelectQueryBuilder<Tables, "trajectories", T>, order: TrajectorySearch["order"]) {
  const first = {
    newest: query,
    best: query.orderBy(sql`coalesce(reward, -1e300)`, "desc"),
    worst: query.orderBy(sql`coalesce(reward, 1e300)`),
    longest: query.orderBy("turns", "desc"),
  }[order];
  return first.orderBy("iteration", "desc").orderBy("phase").orderBy("id");
}

/** Most trajectories of a group that are read. */
const mostSiblings = 64;

const groupColumns = ["iteration", "phase", "task", "role"] as const;

function groupsInOrder<T>(
  query: SelectQueryBuilder<Tables, "trajectories", T>,
  order: TrajectorySearch["order"],
) {
  const first = {
    newest: query,
    best: query.orderBy(sql`max(coalesce(reward, -1e300))`, "desc"),
    worst: query.orderBy(sql`min(coalesce(reward, 1e300))`),
    longest: query.orderBy(sql`max(turns)`, "desc"),
  }[order];
  return first.orderBy("iteration", "desc").orderBy("phase").orderBy("task").orderBy("role");
}

const summaryColumns = [
  "run",
  "iteration",
  "phase",
  "id",
  "task",
  "episode",
  "role",
  "origin",
  "success",
  "reward",
  "turns",
  "end_kind",
  "kept",
] as const;

const foundColumns = [...summaryColumns, "data"] as const;

const foundOf = (row: Pick<TrajectoriesTable, (typeof foundColumns)[number]>): FoundTrajectory => ({
  ...summaryOf(row),
  words: packedWords(row),
});

function summaryOf(row: Pick<TrajectoriesTable, (typeof summaryColumns)[number]>): TrajectorySummary {
  const { success, reward, end_kind: end } = row;
  return {
    run: row.run,
    iteration: row.iteration,
    phase: row.phase,
    id: row.id,
    task: row.task,
    episode: row.episode,
    role: row.role,
    origin: row.origin,
    ...(success !== null && { success: success === 1 }),
    ...(reward !== null && { reward }),
    turns: row.turns,
    end,
    kept: row.kept,
  };
}
