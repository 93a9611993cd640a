/**
 * Read by a server before itself (`node --import`): measures how long its event loop stands still, and answers every message of
 * its parent with the longest pause since the last one.
 *
 * A pause is counted in the CPU time of the serving thread as well: on a machine that has other work to do, only that says what
 * the server itself did between two beats.
 */

/** Milliseconds between two beats of the server's event loop, at the most. */
export interface Pause {
  readonly wall: number;
  /** Of them, what the thread computed. */
  readonly cpu: number;
}

const every = 5;
const computed = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let longest: Pause = { wall: 0, cpu: 0 };
let [at, cpuAt] = [performance.now(), computed()];

function beat(): void {
  const [now, cpuNow] = [performance.now(), computed()];
  longest = { wall: Math.max(longest.wall, now - at), cpu: Math.max(longest.cpu, cpuNow - cpuAt) };
  [at, cpuAt] = [now, cpuNow];
}

if (process.send) {
  setInterval(beat, every).unref();
  process.on("message", () => {
    beat();
    process.send?.(longest);
    longest = { wall: 0, cpu: 0 };
  });
  process.channel?.unref();
}
