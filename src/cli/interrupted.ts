/** Commands that are asked to end: by Ctrl-C, or by the signal that systems send to services. */
import type { EventEmitter } from "node:events";
import { Worker } from "node:worker_threads";
import type { Io } from "./output.ts";

const signals = ["SIGINT", "SIGTERM"] as const;

/** npm passes on the Ctrl-C that the command has received already. */
const sameSignalMs = 500;

/** What the thread is told that watches the main thread. */
export interface Watched {
  /** Grows while the main thread answers. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  /** Milliseconds without a beat after which the main thread is stuck. */
  readonly ms: number;
  /** Emitted by `process` then. */
  readonly event: string;
}

/**
 * Does `end` at the first signal. A later one meets nobody who listens, and ends the process at once; so does every signal
 * while the main thread has not answered for 30 s, since nobody could listen.
 * @returns stops listening.
 */
export function onSignal(end: () => void, stuckAfterMs = 30_000): () => void {
  const unwatched = withoutListenersWhenStuck(stuckAfterMs);
  const unheard = listening(end);
  return () => {
    unwatched();
    unheard();
  };
}

function listening(end: () => void): () => void {
  let [ending, isOff] = [false, false];
  const listener = (signal: NodeJS.Signals): void => {
    // put back with the others after the main thread was stuck
    if (isOff) {
      off();
      process.kill(process.pid, signal);
    }
    if (ending) return;
    ending = true;
    setTimeout(off, sameSignalMs).unref();
    end();
  };
  const off = (): void => {
    isOff = true;
    for (const signal of signals) process.off(signal, listener);
  };
  for (const signal of signals) process.on(signal, listener);
  return off;
}

/** Node hands signals to listeners on the main thread, so that one in an endless loop could only be killed. @returns ends the watch. */
function withoutListenersWhenStuck(ms: number): () => void {
  const watched: Watched = { beats: new Int32Array(new SharedArrayBuffer(4)), ms, event: "whetstone:stuck" };
  const file = import.meta.url.endsWith(".ts") ? "./stuckWorker.ts" : "./stuckWorker.js";
  const worker = new Worker(new URL(file, import.meta.url), { workerData: watched, execArgv: [] });
  worker.unref();
  // a Node without an inspector: as if nobody watched
  worker.on("error", () => {});
  let removed: (() => void)[] = [];
  const remove = (): void => {
    for (const signal of signals) {
      for (const listener of process.listeners(signal)) removed.push(() => process.on(signal, listener));
      process.removeAllListeners(signal);
    }
  };
  const emitter: EventEmitter = process;
  emitter.on(watched.event, remove);
  const restore = (): void => {
    for (const again of removed) again();
    removed = [];
  };
  const beat = setInterval(() => {
    restore();
    Atomics.add(watched.beats, 0, 1);
  }, ms / 10).unref();
  return () => {
    clearInterval(beat);
    restore();
    emitter.off(watched.event, remove);
    void worker.terminate();
  };
}

/** Once the first signal has come. It alone keeps no process up. */
export const signalled = (): Promise<void> => new Promise((go) => void listening(go));

/**
 * Does work that leaves nothing to save, until it is done or interrupted; then says so and sets the exit code 130.
 * @returns undefined where it was cut short.
 */
export async function untilInterrupted<T>(
  io: Io,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const stop = new AbortController();
  const off = onSignal(() => {
    io.error("Ending after the running replies. Press Ctrl-C again to end at once.");
    stop.abort();
  });
  try {
    return await work(stop.signal);
  } catch (e) {
    if (!stop.signal.aborted) throw e;
    io.say("Interrupted.");
    return undefined;
  } finally {
    if (stop.signal.aborted) io.code = 130;
    off();
  }
}
