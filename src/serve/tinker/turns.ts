/** Operations of one model, which run in the order of their numbers however they arrive, each once. */

/** What became of a request to run an operation. */
export type Taken =
  | { readonly kind: "new" | "again"; readonly request: string }
  /** The number was taken by another operation. */
  | { readonly kind: "clash" };

export interface Turns {
  /**
   * @param number from 1, without gaps; undefined: next in the order of arrival.
   * @param body what tells a repetition from another operation: a digest of it.
   * @param request names the operation, if it is new.
   */
  take(number: number | undefined, body: string, request: string, work: () => Promise<unknown>): Taken;
  /** Operations that wait for one before them, or run. */
  readonly waiting: number;
}

/** @param last number of the last operation that is behind this model. */
export function turns(last = 0): Turns {
  let next = last + 1;
  const known = new Map<number, { readonly body: string; readonly request: string }>();
  const early = new Map<number, () => Promise<unknown>>();
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const enqueue = (work: () => Promise<unknown>): void => {
    waiting++;
    line = line.then(work).finally(() => {
      waiting--;
    });
    // `work` answers its own errors
    line.catch(() => undefined);
  };
  const proceed = (): void => {
    for (let work = early.get(next); work; work = early.get(next)) {
      early.delete(next);
      next++;
      enqueue(work);
    }
  };
  return {
    take(number, body, request, work) {
      if (number === undefined) {
        enqueue(work);
        return { kind: "new", request };
      }
      const before = known.get(number);
      if (before)
        return before.body === body ? { kind: "again", request: before.request } : { kind: "clash" };
      if (number < next) return { kind: "clash" };
      known.set(number, { body, request });
      early.set(number, work);
      proceed();
      return { kind: "new", request };
    },
    get waiting() {
      return waiting + early.size;
    },
  };
}
