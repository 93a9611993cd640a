/** A server that has one core: there, whoever waits for an answer goes before Node's own threads. */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, constants } from "node:os";
import { lowerPriority } from "../common/files/threadPriority.ts";

/**
 * Flags for Node. Garbage is collected by the thread that made it: helpers could only take turns with it, and it would wait for
 * them. Young objects get 32 MiB, so that what a request leaves is garbage by the time it is looked at; none begins among the
 * old ones, which V8 does with what lived long in a first rush: whole requests that hang on such an object outlive their end.
 */
export const singleCoreFlags: readonly string[] = [
  "--single-threaded-gc",
  "--no-allocation-site-pretenuring",
  "--min-semi-space-size=32",
  "--max-semi-space-size=32",
];

/** Where this process has one core, it begins again with {@link singleCoreFlags}, under the same id, unless it has them. Linux only. */
export function restartForSingleCore(): void {
  if (process.platform !== "linux" || availableParallelism() > 1) return;
  const missing = singleCoreFlags.filter((flag) => !process.execArgv.includes(flag));
  if (missing.length === 0) {
    compileInBackground();
    return;
  }
  const { execPath, execArgv, argv } = process;
  try {
    process.execve?.(execPath, [execPath, ...missing, ...execArgv, ...argv.slice(1)]);
  } catch {
    // as it was begun, it serves as well
  }
}

/**
 * V8's threads, which compile what runs often, take what is left of the CPU: only with {@link singleCoreFlags}, for without them
 * they collect garbage as well, and the one that answers would wait for them. Those of a Node that does not name them stay as they
 * are, and so do all where the system lets nobody see or move them.
 * @param tasks the folder in which Linux shows this process's threads.
 */
export function compileInBackground(tasks = "/proc/self/task"): void {
  for (const thread of threadsIn(tasks)) {
    if (nameOf(`${tasks}/${thread}`) === "V8Worker")
      lowerPriority(constants.priority.PRIORITY_LOW, Number(thread));
  }
}

function threadsIn(tasks: string): readonly string[] {
  try {
    return readdirSync(tasks);
  } catch {
    return [];
  }
}

/** Of a thread; nothing where it has ended meanwhile, or may not be read. */
function nameOf(task: string): string | undefined {
  try {
    return readFileSync(`${task}/comm`, "utf8").trimEnd();
  } catch {
    return undefined;
  }
}
