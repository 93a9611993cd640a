/** A lock, so that one process at a time works on a folder. */
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makeFolder } from "../common/files/files.ts";
import { sqlite } from "../common/files/sqlite.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";

/** Milliseconds to wait for another process. */
const patience = 30_000;

/**
 * Runs work while holding the folder's lock. The lock is that of an empty SQLite file beside the folder, `<folder>.lock`:
 * the operating system releases it when the holding process ends, even after a crash.
 * @throws WhetstoneError `store.failed` if another process holds it for half a minute.
 */
export async function holding<T>(folder: string, work: () => Promise<T>): Promise<T> {
  await makeFolder(dirname(folder));
  const lock = new (sqlite().DatabaseSync)(`${folder}.lock`);
  try {
    for (
      const began = performance.now();
      ;
      await pause(5 + 20 * Math.min(1, (performance.now() - began) / 500))
    ) {
      try {
        lock.exec("begin exclusive");
        break;
      } catch (e) {
        if (!isBusy(e)) throw e;
        if (performance.now() - began > patience) throw lockedError(folder, e);
      }
    }
    return await work();
  } finally {
    lock.close();
  }
}

const isBusy = (e: unknown): boolean => e instanceof Error && "errcode" in e && e.errcode === 5;

const lockedError = (folder: string, e: unknown): WhetstoneError =>
  new WhetstoneError("store.failed", {
    where: folder,
    got: `a folder that another process has locked (${messageOf(e)})`,
    expected: "a lock that is released within half a minute",
    fix: "Wait for the other process to end, or end it.",
    cause: e,
  });
