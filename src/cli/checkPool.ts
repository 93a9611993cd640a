/** Threads that make runs of checks. */
import { Worker } from "node:worker_threads";
import { WhetstoneError } from "../core/errors.ts";
import type { Measured } from "../train/check.ts";
import type { Order } from "./checkWorker.ts";

interface Job {
  readonly order: Order;
  readonly resolve: (measured: Measured) => void;
  readonly reject: (e: Error) => void;
}

type Answer = { readonly measured: Measured } | { readonly error: string };

export interface Pool {
  run(order: Order): Promise<Measured>;
  close(): Promise<void>;
}

/** @param threads how many runs are made at once. */
export function startPool(threads: number): Pool {
  const file = import.meta.url.endsWith(".ts") ? "./checkWorker.ts" : "./checkWorker.js";
  const waiting: Job[] = [];
  const idle: Worker[] = [];
  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL(file, import.meta.url));
    idle.push(worker);
    return worker;
  });
  const next = (): void => {
    while (idle.length > 0 && waiting.length > 0) {
      const worker = idle.pop()!;
      const { order, resolve, reject } = waiting.shift()!;
      const done = (settle: () => void): void => {
        worker.removeAllListeners("message").removeAllListeners("error");
        settle();
      };
      worker.on("message", (answer: Answer) =>
        done(() => {
          idle.push(worker);
          if ("measured" in answer) resolve(answer.measured);
          else reject(failed(order, answer.error));
          next();
        }),
      );
      worker.on("error", (e) => done(() => reject(failed(order, e.message))));
      worker.postMessage(order);
    }
  };
  return {
    run: (order) =>
      new Promise((resolve, reject) => {
        waiting.push({ order, resolve, reject });
        next();
      }),
    async close() {
      await Promise.all(workers.map((w) => w.terminate()));
    },
  };
}

const failed = ({ file }: Order, got: string): WhetstoneError =>
  new WhetstoneError("engine.failed", {
    where: file,
    got,
    expected: "a run that returns a number",
    fix: "Correct the check or the method; finished runs are kept.",
  });
