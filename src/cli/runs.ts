/** `whetstone runs`: what has been run. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { unknownName } from "../common/text/suggest.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { SqliteIn } from "../store/database.ts";
import { errorOf, openRunStore, type Run, type RunStore } from "../store/runStore.ts";
import { successAfter } from "../store/successAfter.ts";
import { isPostgresUrl } from "../store/where.ts";
import { addCommand, duration, folded, type Io, interval, roomOf, table } from "./output.ts";
import { shownStore } from "./report.ts";

export const storeOption = [
  "--store <where>",
  "run store: a SQLite file or a postgres:// URL",
  shownStore,
] as const;

export function addRuns(program: Command, io: Io): void {
  addCommand(program, "runs", "List the runs, the latest first.", ["whetstone runs", "whetstone runs --json"])
    .option(...storeOption)
    .action(async ({ store: file }: { store: string }) => {
      if (!isPostgresUrl(file) && !existsSync(file)) {
        io.say(`No runs yet: there is no ${file}. Start one with: whetstone start`);
        return;
      }
      const store = await openRunStore(file);
      try {
        const rows: string[][] = [];
        const failures: string[] = [];
        for (const run of await store.runs()) {
          const success = successAfter(await store.evaluations(run.id));
          const error = errorOf(run);
          if (error !== undefined) failures.push(`${run.name} failed: ${error}`);
          const seconds = (Date.parse(run.finished ?? run.seen) - Date.parse(run.started)) / 1000;
          io.record({ ...run, success: success?.success ?? null, seconds });
          rows.push([
            run.name,
            success ? `${interval(success.success)}${success.trainedShare > 0 ? " (trained on)" : ""}` : "–",
            stateOf(run),
            run.env,
            run.method,
            run.engine,
            String(run.seed),
            duration(seconds),
            run.started.slice(0, 16).replace("T", " "),
          ]);
        }
        const head = [
          "run",
          "success %",
          "state",
          "env",
          "method",
          "engine",
          "seed",
          "took",
          "started (UTC)",
        ];
        if (rows.length === 0) io.say("No runs yet. Start one with: whetstone start");
        else {
          io.say(...table(head, rows, roomOf(io)), "");
          if (failures.length > 0) io.say(...failures.flatMap((line) => folded(io, line)), "");
          io.say("Show one with: whetstone show RUN");
        }
      } finally {
        await store.close();
      }
    });
}

/** A run that was killed says "running" for ever; that nothing was heard of it tells. */
function stateOf(run: Run): string {
  if (run.state !== "running") return run.state;
  const silent = (Date.now() - Date.parse(run.seen)) / 1000;
  return silent > 600 ? `running? (silent ${duration(silent)})` : "running";
}

/** Opens the store for reading; it is not made by asking for it. */
export async function existingStore(file: string, sqlite?: SqliteIn): Promise<RunStore> {
  if (isPostgresUrl(file) || existsSync(file)) return await openRunStore(file, sqlite);
  throw new WhetstoneError("option.range", {
    where: "--store",
    got: `no file ${file}`,
    expected: "an existing run store",
    fix: "Run this command in the folder that contains runs/, or give the file with --store.",
  });
}

/** @throws WhetstoneError `name.unknown` with the nearest name. */
export async function requireRun(store: RunStore, name: string): Promise<Run> {
  const found = await store.run(name);
  if (found) return found;
  const names = [...new Set((await store.runs()).map((r) => r.name))];
  const begun = names.filter((n) => n.startsWith(name));
  throw unknownName("run", name, begun.length > 0 ? begun : names);
}
