/** Cooperative scheduling: long work in short slices, so that a server can answer other requests in between. */

/** Work that yields at each point where it may be interrupted. */
export type Interruptible<T> = Generator<undefined, T, undefined>;

/** Length of a slice, in milliseconds. */
const longest = 8;

/** The last requested turn; each new one is chained to it. */
let last: Promise<void> = Promise.resolve();

/** Waits until the event loop has served its other events. Only one waiting caller continues per turn. */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise((go) => setImmediate(go)));
  return last;
}

/** Runs all the work synchronously. */
export function atOnce<T>(work: Interruptible<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs the work in slices: the first one now, each further one in a turn of the event loop. */
export async function inSlices<T>(work: Interruptible<T>): Promise<T> {
  for (let began = performance.now(); ; ) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - began < longest) continue;
    await ownTurn();
    began = performance.now();
  }
}

/**
 * Paces work that waits for other work between its pieces; only the pieces count.
 * @returns a function to call after each piece with the time at which the piece began. Await its result before the next piece.
 */
export function ownPace(): (began: number) => Promise<void> | undefined {
  let worked = 0;
  return (began) => {
    worked += performance.now() - began;
    if (worked < longest) return undefined;
    worked = 0;
    return ownTurn();
  };
}

/** Maps a list interruptibly; returns the same list where no element changes. */
export function* eachOf<T>(
  list: readonly T[],
  change: (one: T) => Interruptible<T>,
): Interruptible<readonly T[]> {
  const changed: T[] = [];
  for (const one of list) {
    changed.push(yield* change(one));
    yield;
  }
  return changed.every((one, i) => one === list[i]) ? list : changed;
}
