/** Thread priorities. */
import { setPriority } from "node:os";

/**
 * Lowers a thread's priority where the system allows it. A failure, as in a container that forbids the call or for a thread
 * that has ended, is ignored. Linux only: on other systems a priority applies to the whole process.
 * @param nice nice value, up to 19. It must be above the thread's current value: lowering it again needs privileges.
 * @param thread thread id. Default: the calling thread.
 * @returns whether it was lowered.
 */
export function lowerPriority(nice: number, thread = 0): boolean {
  if (process.platform !== "linux") return false;
  try {
    // on Linux the call accepts a thread id
    setPriority(thread, nice);
    return true;
  } catch {
    return false;
  }
}
