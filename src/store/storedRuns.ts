/** Stores runs and their tags. */
import { basename, resolve } from "node:path";
import type { Kysely } from "kysely";
import type { Finding } from "../core/finding.ts";
import { fromExactJson, type Json, toExactJson } from "../core/json.ts";
import type { Guarded } from "./database.ts";
import type { Run, RunStore } from "./runStoreTypes.ts";
import type { RunsTable, Tables } from "./schema.ts";

type Stored = Pick<
  RunStore,
  "startRun" | "saveFindings" | "finishRun" | "dropRun" | "runs" | "run" | "tags" | "setTags"
>;

export function storedRuns(db: Kysely<Tables>, guarded: Guarded): Stored {
  const runs = () =>
    guarded(async () =>
      (await db.selectFrom("runs").selectAll().orderBy("started", "desc").orderBy("id").execute()).map(runOf),
    );
  return {
    startRun: (run) =>
      guarded(async () => {
        const now = new Date().toISOString();
        const row = {
          ...run,
          config: toExactJson(run.config),
          folder: resolve(run.folder),
          state: "running" as const,
          seen: now,
          finished: null,
          summary: null,
          findings: null,
        };
        const { id: _, ...again } = row;
        await db
          .insertInto("runs")
          .values({ ...row, started: now })
          .onConflict((c) => c.column("id").doUpdateSet(again))
          .execute();
      }),

    saveFindings: (run, findings) =>
      guarded(async () => {
        await db
          .updateTable("runs")
          .set({ findings: toExactJson(findings) })
          .where("id", "=", run)
          .execute();
      }),

    finishRun: (run, state, summary) =>
      guarded(async () => {
        const now = new Date().toISOString();
        await db
          .updateTable("runs")
          .set({
            state,
            finished: now,
            seen: now,
            summary: summary === undefined ? null : toExactJson(summary),
          })
          .where("id", "=", run)
          .execute();
      }),

    dropRun: (run) =>
      guarded(async () => {
        const has = (table: "metrics" | "evaluations") =>
          db.selectFrom(table).select("run").where("run", "=", run).limit(1);
        await db
          .deleteFrom("runs")
          .where("id", "=", run)
          .where(({ not, exists }) => not(exists(has("metrics"))))
          .where(({ not, exists }) => not(exists(has("evaluations"))))
          .execute();
      }),

    runs,

    run: (name) =>
      guarded(async () => {
        const known = await db.selectFrom("runs").selectAll().where("id", "=", name).executeTakeFirst();
        if (known) return runOf(known);
        const all = await runs();
        const folder = resolve(name);
        const placed = all.find((r) => r.folder === folder);
        if (placed) return placed;
        // the last started wins among runs of one folder name; an ambiguous beginning is nobody
        const named = all.find((r) => r.name === name || basename(r.folder) === name);
        if (named) return named;
        const begun = all.filter((r) => name !== "" && (r.id.startsWith(name) || r.name.startsWith(name)));
        return begun.length === 1 ? begun[0] : undefined;
      }),

    tags: () =>
      guarded(async () => {
        const rows = await db.selectFrom("run_tags").selectAll().orderBy("tag").execute();
        const byRun = new Map<string, string[]>();
        for (const { run, tag } of rows) byRun.set(run, [...(byRun.get(run) ?? []), tag]);
        return byRun;
      }),

    setTags: (run, tags) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          // holds the row, so that of two at once the later one stands, whole
          await tx.updateTable("runs").set({ id: run }).where("id", "=", run).execute();
          await tx.deleteFrom("run_tags").where("run", "=", run).execute();
          const rows = [...new Set(tags)].map((tag) => ({ run, tag }));
          if (rows.length > 0) await tx.insertInto("run_tags").values(rows).execute();
        }),
      ),
  };
}

function runOf({ config, summary, finished, findings, ...row }: RunsTable): Run {
  return {
    ...row,
    config: fromExactJson(config) as Json,
    ...(finished !== null && { finished }),
    ...(summary !== null && { summary: fromExactJson(summary) as Json }),
    findings: findings === null ? [] : (fromExactJson(findings) as readonly Finding[]),
  };
}
