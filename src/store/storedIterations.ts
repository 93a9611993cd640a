/** Stores iterations and evaluations of a run, and applies the retention rule. */
import type { Kysely } from "kysely";
import type { Guarded } from "./database.ts";
import type { Evaluation, RunStore } from "./runStoreTypes.ts";
import type { EvaluationsTable, Tables } from "./schema.ts";
import { saveTasks, type Trained } from "./storedTasks.ts";
import { orNull, trajectoryRow, whyKept } from "./trajectoryRow.ts";

/** Trajectories of this many last iterations are kept, whatever they are. */
export const keptIterations = 50;

export function storedIterations(
  db: Kysely<Tables>,
  guarded: Guarded,
): Pick<RunStore, "saveIteration" | "saveEvaluation" | "rewind" | "evaluations"> {
  return {
    saveIteration: (run, iteration, { metrics, trajectories }) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          await tx
            .updateTable("runs")
            .set({ seen: new Date().toISOString() })
            .where("id", "=", run)
            .execute();
          await tx.deleteFrom("metrics").where("run", "=", run).where("iteration", "=", iteration).execute();
          await tx
            .deleteFrom("trajectories")
            .where("run", "=", run)
            .where("iteration", "=", iteration)
            .where("kept", "!=", "example")
            .execute();
          for (const [name, value] of Object.entries(metrics)) {
            await tx
              .insertInto("metrics")
              .values({ run, iteration, name, value: orNull(value) })
              .execute();
          }
          const trained: Trained[] = [];
          for (const saved of trajectories) {
            const row = trajectoryRow(run, iteration, saved, whyKept(saved));
            await tx.insertInto("trajectories").values(row).execute();
            const { task, role, success, reward } = row;
            const { turns } = saved.trajectory;
            if (saved.phase === "train") trained.push({ task, role, success, reward, turns });
          }
          await saveTasks(tx, run, iteration, trained);
          await tx
            .deleteFrom("trajectories")
            .where("run", "=", run)
            .where("kept", "=", "recent")
            .where("iteration", "<=", iteration - keptIterations)
            .execute();
        }),
      ),

    saveEvaluation: (run, { when, iteration, success, ...rest }, examples = []) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          const values = {
            mean: orNull(success.mean),
            low: orNull(success.low),
            high: orNull(success.high),
            n: success.n,
            reward: orNull(rest.reward),
            turns: orNull(rest.turns),
            tasks: rest.tasks,
            failed: rest.failed,
            seconds: rest.seconds,
            trained_share: rest.trainedShare,
            outcomes: rest.outcomes ?? null,
          };
          await tx
            .insertInto("evaluations")
            .values({ run, moment: when, iteration, split: rest.split, mode: rest.mode, ...values })
            .onConflict((c) => c.columns(["run", "moment", "iteration", "split", "mode"]).doUpdateSet(values))
            .execute();
          for (const saved of examples) {
            const row = trajectoryRow(run, iteration, saved, "example");
            await tx
              .insertInto("trajectories")
              .values(row)
              .onConflict((c) => c.columns(["run", "iteration", "phase", "id"]).doUpdateSet(row))
              .execute();
          }
        }),
      ),

    rewind: (run, iteration) =>
      guarded(() =>
        db.transaction().execute(async (tx) => {
          for (const table of ["metrics", "task_episodes"] as const)
            await tx.deleteFrom(table).where("run", "=", run).where("iteration", ">=", iteration).execute();
          await tx
            .deleteFrom("trajectories")
            .where("run", "=", run)
            .where((e) =>
              e.or([
                e.and([e("kept", "!=", "example"), e("iteration", ">=", iteration)]),
                e("iteration", ">", iteration),
              ]),
            )
            .execute();
          await tx
            .deleteFrom("evaluations")
            .where("run", "=", run)
            .where((e) => e.or([e("moment", "=", "after"), e("iteration", ">", iteration)]))
            .execute();
        }),
      ),

    evaluations: (run) =>
      guarded(async () => {
        const rows = await db
          .selectFrom("evaluations")
          .selectAll()
          .where("run", "=", run)
          .orderBy("iteration")
          .orderBy("moment", "desc")
          .orderBy("split")
          .orderBy("mode", "desc")
          .execute();
        return rows.map(evaluationOf);
      }),
  };
}

function evaluationOf(row: EvaluationsTable): Evaluation {
  const { run: _, moment, mean, low, high, n, reward, turns, trained_share, outcomes, ...rest } = row;
  return {
    ...rest,
    ...(outcomes !== null && { outcomes }),
    when: moment as Evaluation["when"],
    trainedShare: trained_share,
    success: { mean: mean ?? Number.NaN, low: low ?? Number.NaN, high: high ?? Number.NaN, n },
    reward: reward ?? Number.NaN,
    turns: turns ?? Number.NaN,
  };
}
