/** Jobs in a separate thread, so that long work does not block the caller's event loop; a job that times out is terminated. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { type Pool, pool } from "./pool.ts";

export interface ThreadOptions {
  /** Timeout of a job, in seconds. */
  readonly seconds: number;
  readonly workerData?: unknown;
}

/**
 * One thread, started by the first job, that does not keep the process alive. Its module posts "ready", then answers each message with one.
 * @param beside the `import.meta.url` of the caller. @param name name of the module beside it, without its extension.
 */
export function oneThread<Job, Reply>(
  beside: string,
  name: string,
  { seconds, workerData }: ThreadOptions,
): Pool<Job, Reply> {
  // run from source the module is TypeScript too; in the published package both are JavaScript
  const module = new URL(`./${name}${extname(beside)}`, beside);
  return pool<Job, Reply>({
    size: 1,
    seconds,
    open: ({ ready, reply, died }) => {
      const worker = new Worker(module, { workerData, execArgv: [] });
      worker.unref();
      worker.on("message", (told: Reply | "ready") => (told === "ready" ? ready() : reply(told, false)));
      worker.on("error", (e) => died(messageOf(e)));
      worker.on("exit", (code) => died(`the thread ended with ${code}`));
      return {
        send: (job) => worker.postMessage(job),
        kill: () => void worker.terminate(),
        hold: (busy) => (busy ? worker.ref() : worker.unref()),
      };
    },
  });
}
