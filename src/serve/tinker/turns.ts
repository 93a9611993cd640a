/** Runs a model's operations once each, in the order of their numbers, whatever the order of arrival. */

/** Result of a request to run an operation. */
export type Taken =
  | { readonly kind: "new" | "again"; readonly request: string }
  /** Another operation has the number. */
  | { readonly kind: "clash" };

export interface Begun {
  /** Id under which the result is polled. */
  readonly request: string;
  /** @param over whether the model was removed before the operation's turn. */
  readonly work: (over: boolean) => Promise<unknown>;
}

export interface Turns {
  /**
   * @param number from 1, without gaps; undefined: next in the order of arrival.
   * @param body digest of the request, which tells a retry from another operation.
   * @param begin called for a new operation only.
   */
  take(number: number | undefined, body: string, begin: () => Begun): Taken;
  /** Whether the operation does not wait for one that has not arrived. */
  isNext(number: number | undefined): boolean;
  /** Ends all operations that have not run, including those that wait for missing numbers. Waits for the running one. */
  close(): Promise<void>;
}

/** Most operations remembered for retries. A retry of an older one is a clash, since its result would be gone too. */
const remembered = 4096;

export function turns(): Turns {
  let next = 1;
  const known = new Map<number, { readonly body: string; readonly request: string }>();
  const early = new Map<number, Begun["work"]>();
  let line: Promise<unknown> = Promise.resolve();
  let closed = false;

  const enqueue = (work: Begun["work"]): void => {
    line = line.then(() => work(closed));
    // `work` reports its own errors
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
