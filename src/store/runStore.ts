/** Runs, metrics, trajectories and evaluations in one database. */
import { objectOf, textOf } from "../core/json.ts";
import { artefactsOn } from "./artefacts.ts";
import { connect } from "./connect.ts";
import { type Database, guardedBy, type SqliteIn } from "./database.ts";
import type { Run, RunStore } from "./runStoreTypes.ts";
import { storedIterations } from "./storedIterations.ts";
import { storedMetrics } from "./storedMetrics.ts";
import { storedRuns } from "./storedRuns.ts";
import { storedTasks } from "./storedTasks.ts";
import { storedTrajectories } from "./storedTrajectories.ts";

export type * from "./runStoreTypes.ts";

/** Error of a failed run. */
export const errorOf = ({ summary }: Pick<Run, "summary">): string | undefined =>
  textOf(objectOf(summary)?.error);

/**
 * @param where a SQLite file, or the URL of a PostgreSQL database.
 * @param sqlite the thread that runs SQLite; servers use a separate one.
 * @throws WhetstoneError `store.failed` when it cannot be opened or is no store.
 */
export async function openRunStore(where: string, sqlite: SqliteIn = "this thread"): Promise<RunStore> {
  return runStoreOn(await connect(where, sqlite));
}

/** A store on a database that is open already, with its tables. */
export function runStoreOn(database: Database): RunStore {
  const { db, where: file, close } = database;
  const guarded = guardedBy(database);
  return {
    file,
    artefacts: artefactsOn(database, guarded),
    ...storedRuns(db, guarded),
    ...storedIterations(db, guarded),
    ...storedMetrics(db, guarded),
    ...storedTasks(db, guarded),
    ...storedTrajectories(db, guarded),
    close,
  };
}
