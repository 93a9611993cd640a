/** Operations of one model, which run in the order of their numbers however they arrive, each once. */

/** What became of a request to run an operation. */
export type Taken =
  | { readonly kind: "new" | "again"; readonly request: string }
  /** The number was taken by another operation. */
  | { readonly kind: "clash" };

export interface Begun {
  /** Names the operation. */
  readonly request: string;
  /** @param over the model has gone before its turn came. */
  readonly work: (over: boolean) => Promise<unknown>;
}

export interface Turns {
  /**
   * @param number from 1, without gaps; undefined: next in the order of arrival.
   * @param body what tells a repetition from another operation: a digest of it.
   * @param begin for a new one alone.
   */
  take(number: number | undefined, body: string, begin: () => Begun): Taken;
  /** Whether it need not wait for one that has not come. */
  isNext(number: number | undefined): boolean;
  /** What has not run yet is over, also what would have waited for ever. Waits for the one that runs. */
  close(): Promise<void>;
}

/** A repetition of an older operation is a clash: its result would be gone as well. */
const remembered = 4096;

export function turns(): Turns {
  let next = 1;
  const known = new Map<number, { readonly body: string; readonly request: string }>();
  const early = new Map<number, Begun["work"]>();
  let line: Promise<unknown> = Promise.resolve();
  let closed = false;

  const enqueue = (work: Begun["work"]): void => {
    line = line.then(() => work(closed));
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
    take(number, body, begin) {
      if (number === undefined) {
        const { request, work } = begin();
        enqueue(work);
        return { kind: "new", request };
      }
      const before = known.get(number);
      if (before)
        return before.body === body ? { kind: "again", request: before.request } : { kind: "clash" };
      if (number < next) return { kind: "clash" };
      const { request, work } = begin();
      known.set(number, { body, request });
      known.delete(number - remembered);
      early.set(number, work);
      proceed();
      return { kind: "new", request };
    },
    isNext: (number) => number === undefined || number <= next,
    async close() {
      closed = true;
      for (const work of early.values()) enqueue(work);
      early.clear();
      await line.catch(() => undefined);
    },
  };
}
