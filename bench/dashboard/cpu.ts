/** Seconds that processes have worked, as Linux counts them: what else the machine does changes them little. */
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Of a second: what the kernel counts in. */
const tick = 100;

interface Stat {
  readonly parent: number;
  readonly seconds: number;
}

/** Nothing of a process that has ended. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // a name may hold anything: what counts stands behind its last bracket
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / tick };
  } catch {
    return undefined;
  }
}

/** Of a process alone. */
export const cpuSeconds = (pid: number): number => statOf(pid)?.seconds ?? 0;

/** The processes that a process has begun, and those that they have, as far as they have not ended. */
export function descendantsOf(pid: number): number[] {
  if (!existsSync("/proc")) return [];
  const all = readdirSync("/proc")
    .map(Number)
    .filter((other) => other > 0);
  const parents = new Map(all.map((other) => [other, statOf(other)?.parent]));
  const found = [pid];
  // what is added on the way is looked at in turn
  for (const one of found) found.push(...all.filter((other) => parents.get(other) === one));
  return found.slice(1);
}
