/** A server that has one core: there, whoever waits for an answer goes before Node's own threads. */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, constants, setPriority } from "node:os";

/**
 * Flags for Node. Garbage is collected by the thread that made it: helpers could only take turns with it, and it would wait for
 * them. Young objects get 32 MiB, so that what a request leaves is garbage by the time it is looked at; none begins among the
 * old ones, which V8 does with what lived long in a first rush: whole requests that hang on such an object outlive their end.
 */
export const oneCoreFlags: readonly string[] = [
  "--single-threaded-gc",
  "--no-allocation-site-pretenuring",
  "--min-semi-space-size=32",
  "--max-semi-space-size=32",
];

/** Where this process has one core, it begins again with {@link oneCoreFlags}, under the same id, unless it has them. Linux only. */
export function beginForOneCore(): void {
  if (process.platform !== "linux" || availableParallelism() > 1) return;
  const missing = oneCoreFlags.filter((flag) => !process.execArgv.includes(flag));
  if (missing.length === 0) {
    compileInBackground();
    return;
  }
  const { execPath, execArgv, argv } = process;
  // Node 22.13 and 22.14 have no execve
  process.execve?.(execPath, [execPath, ...missing, ...execArgv, ...argv.slice(1)]);
}

/**
 * V8's threads, which compile what runs often, take what is left of the CPU: only with {@link oneCoreFlags}, for without them
 * they collect garbage as well, and the one that answers would wait for them. Those of a Node that does not name them stay as they are.
 */
export function compileInBackground(): void {
  for (const thread of readdirSync("/proc/self/task")) {
    if (readFileSync(`/proc/self/task/${thread}/comm`, "utf8") !== "V8Worker\n") continue;
    // Linux takes a thread's id where others take a process's
    setPriority(Number(thread), constants.priority.PRIORITY_LOW);
  }
}
