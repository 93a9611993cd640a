/** A thread beside untrusted SQL, which a statement cannot keep busy: ends the process when it is left alone or grows. */
import { workerData } from "node:worker_threads";

/** Resident bytes at which the process ends. */
const limit: number = workerData;
/** How a process ends that grew too large; nobody else sends it this. */
const tooLarge = "SIGTERM";

const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  if (process.memoryUsage.rss() > limit) process.kill(process.pid, tooLarge);
}, 20);
