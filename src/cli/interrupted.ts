/** Commands that are asked to end: by Ctrl-C, or by the signal that systems send to services. */
import type { Io } from "./output.ts";

const signals = ["SIGINT", "SIGTERM"] as const;

/** npm passes on the Ctrl-C that the command has received already. */
const sameSignalMs = 500;

/**
 * Does `end` at the first signal. A later one meets nobody who listens, and ends the process at once.
 * @returns stops listening.
 */
export function onSignal(end: () => void): () => void {
  let ending = false;
  const listener = (): void => {
    if (ending) return;
    ending = true;
    setTimeout(off, sameSignalMs).unref();
    end();
  };
  const off = (): void => {
    for (const signal of signals) process.off(signal, listener);
  };
  for (const signal of signals) process.on(signal, listener);
  return off;
}

/** Once the first signal has come. It alone keeps no process up. */
export const signalled = (): Promise<void> => new Promise((go) => void onSignal(go));

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
