/** A thread beside untrusted SQL, which a statement cannot keep busy: ends the process when it is left alone or grows. */
import { workerData } from "node:worker_threads";

/** What a watcher is told by the process that it watches. */
export interface Watched {
  /** Resident bytes at which the process ends. */
  readonly limit: number;
  /** Whose child the process is. Read here, it might be too late: whoever was killed before would never be missed. */
  readonly parent: number;
}

const { limit, parent }: Watched = workerData;
/** How a process ends that grew too large; nobody else sends it this. */
const tooLarge = "SIGTERM";

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  if (process.memoryUsage.rss() > limit) process.kill(process.pid, tooLarge);
}, 20);
