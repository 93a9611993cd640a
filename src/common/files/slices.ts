/** Long work in short slices, so that a server answers others in between. */

/** Work that yields wherever it may be interrupted. */
export type Interruptible<T> = Generator<undefined, T, undefined>;

/** Milliseconds of work after which others get their turn. */
const longest = 8;

/** The turn that was asked for last. */
let last: Promise<void> = Promise.resolve();

/** Waits until the event loop has looked after everybody else. Of all who wait, one goes on at a time. */
export function ownTurn(): Promise<void> {
  last = last.then(() => new Promise((go) => setImmediate(go)));
  return last;
}

/** All of it now. */
export function atOnce<T>(work: Interruptible<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** All of it, a slice of it now and the others each in a turn of its own. */
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
 * For work that waits for others between its pieces: only the pieces count.
 * @returns to be called after each with when it began; what it gives is to be awaited before the next.
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

/** What becomes of each of a list; the list itself where each stays the very same. */
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
