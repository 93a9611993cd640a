/** Reads the metrics of a run. */
import { type Kysely, sql } from "kysely";
import type { Guarded } from "./database.ts";
import type { RunStore } from "./runStoreTypes.ts";
import type { Tables } from "./schema.ts";

export function storedMetrics(
  db: Kysely<Tables>,
  guarded: Guarded,
): Pick<RunStore, "metrics" | "curves" | "extremes" | "measured"> {
  const lastIteration = async (run: string): Promise<number | undefined> => {
    const row = await db
      .selectFrom("metrics")
      .select("iteration")
      .where("run", "=", run)
      .orderBy("iteration", "desc")
      .limit(1)
      .executeTakeFirst();
    return row?.iteration;
  };

  return {
    metrics: (run) =>
      guarded(async () =>
        (
          await db
            .selectFrom("metrics")
            .select(["iteration", "name", "value"])
            .where("run", "=", run)
            .orderBy("iteration")
            .orderBy("name")
            .execute()
        ).map((m) => ({ ...m, value: m.value ?? Number.NaN })),
      ),

    curves: (run, names, points, within) =>
      guarded(async () => {
        const last = await lastIteration(run);
        if (last === undefined || names.length === 0) return [];
        const until = Math.min(within?.until ?? last + 1, last + 1);
        const iterations = evenly(within?.from ?? 0, until, points);
        if (iterations.length === 0) return [];
        const rows = await db
          .selectFrom("metrics")
          .select(["iteration", "name", "value"])
          .where("run", "=", run)
          .where("iteration", "in", iterations)
          .where("name", "in", names)
          .orderBy("iteration")
          .orderBy("name")
          .execute();
        return rows.map((m) => ({ ...m, value: m.value ?? Number.NaN }));
      }),

    extremes: (run, width, { from, until }) =>
      guarded(async () => {
        // whole numbers, divided as such by both databases
        const block = sql<number>`iteration / ${sql.lit(Math.trunc(width))}`;
        return db
          .selectFrom("metrics")
          .select(({ fn }) => [
            block.as("block"),
            "name",
            fn.min<number>("value").as("low"),
            fn.max<number>("value").as("high"),
          ])
          .where("run", "=", run)
          .where("iteration", ">=", from)
          .where("iteration", "<", until)
          .where("value", "is not", null)
          .groupBy([block, "name"])
          .orderBy(block)
          .orderBy("name")
          .execute();
      }),

    measured: (run) =>
      guarded(async () => {
        const last = await lastIteration(run);
        if (last === undefined) return { names: [], iterations: 0 };
        const rows = await db
          .selectFrom("metrics")
          .select("name")
          .where("run", "=", run)
          .where("iteration", "=", last)
          .orderBy("name")
          .execute();
        return { names: rows.map((m) => m.name), iterations: last + 1 };
      }),
  };
}

/** At most `points` whole numbers from `from` to before `until`, evenly spaced, both ends included. */
export function evenly(from: number, until: number, points: number): number[] {
  const count = Math.min(until - from, points);
  if (count <= 1) return count === 1 ? [until - 1] : [];
  return Array.from({ length: count }, (_, i) => from + Math.round((i * (until - 1 - from)) / (count - 1)));
}
