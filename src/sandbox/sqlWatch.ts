/** Watchdog thread beside untrusted SQL, which a statement cannot block: it ends the process when the parent is gone or memory grows too large. */
import { workerData } from "node:worker_threads";

/** Settings that the watched process passes. */
export interface Watched {
  /** Resident bytes at which the process ends. */
  readonly limit: number;
  /** Id of the parent process. It is passed in, since a parent that died before the thread started could not be detected here. */
  readonly parent: number;
}

const { limit, parent }: Watched = workerData;
/** Signal with which a process that grew too large ends itself; nothing else sends it. */
const tooLarge = "SIGTERM";

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  if (process.memoryUsage.rss() > limit) process.kill(process.pid, tooLarge);
}, 20);
