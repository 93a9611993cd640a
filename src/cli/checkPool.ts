/** Threads that make runs of checks, and the file that remembers what was made. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import { WhetstoneError } from "../core/errors.ts";
import { fromExactJson, toExactJson } from "../core/json.ts";
import type { MakeRuns, Measured, Unit } from "../train/check.ts";
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
    expected: "a run that ends with a number",
    fix: "Correct the check or the method; what was measured so far is kept.",
  });

const keyOf = ({ arm, choice, seed }: Unit): string => `${arm}/${choice}/${seed}`;

/**
 * Makes runs on a pool and remembers them: what is in the file already is not made again.
 * @param memory a file of JSON lines; half a line at its end is left out. @param made is told of every run.
 */
export function rememberedRuns(
  pool: Pool,
  file: string,
  memory: string,
  made: (unit: Unit, again: boolean) => void,
): MakeRuns {
  mkdirSync(dirname(memory), { recursive: true });
  const known = new Map<string, Measured>();
  if (existsSync(memory)) {
    for (const line of readFileSync(memory, "utf8").split("\n").slice(0, -1)) {
      const { unit, measured } = fromExactJson(line) as { unit: Unit; measured: Measured };
      known.set(keyOf(unit), measured);
    }
  }
  return (units) =>
    Promise.all(
      units.map(async (unit) => {
        const old = known.get(keyOf(unit));
        if (old) {
          made(unit, true);
          return old;
        }
        const measured = await pool.run({ file, unit });
        appendFileSync(memory, `${toExactJson({ unit, measured })}\n`);
        made(unit, false);
        return measured;
      }),
    );
}
