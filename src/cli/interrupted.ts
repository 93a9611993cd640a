/** Work that Ctrl-C ends early, where there is nothing to save. */
import type { Io } from "./output.ts";

/**
 * Does the work until it is done or interrupted; then says so and sets the exit code 130.
 * @returns undefined where it was interrupted.
 */
export async function untilInterrupted<T>(
  io: Io,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once("SIGINT", interrupt);
  try {
    return await work(stop.signal);
  } catch (e) {
    if (!stop.signal.aborted) throw e;
    io.say("Interrupted.");
    io.code = 130;
    return undefined;
  } finally {
    process.off("SIGINT", interrupt);
  }
}
