/** Threads that go before one another. */
import { setPriority } from "node:os";

/**
 * Lowers a thread's priority where the system lets it. Where it does not, as in a container that forbids the call, or for a thread
 * that has ended, an optimisation is lost and nothing else. Linux alone: elsewhere a priority is the whole process's.
 * @param nice as `nice` has it, up to 19: above what the thread has, for only the privileged may take that back.
 * @param thread its id. Default: the calling thread.
 * @returns whether it was lowered.
 */
export function lowerPriority(nice: number, thread = 0): boolean {
  if (process.platform !== "linux") return false;
  try {
    // Linux takes a thread's id where others take a process's
    setPriority(thread, nice);
    return true;
  } catch {
    return false;
  }
}
