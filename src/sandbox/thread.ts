/** Jobs for a thread of one's own: what takes long there holds up nobody here, and what takes too long is broken off. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import { type Pool, pool } from "./pool.ts";

export interface ThreadOptions {
  /** Longest wait for a reply. */
  readonly seconds: number;
  readonly workerData?: unknown;
}

/**
 * One thread, started by the first job, that keeps no process alive. Its module says "ready", then answers each message by one.
 * @param beside the `import.meta.url` of the caller. @param name of the module that lies beside it, without its ending.
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
