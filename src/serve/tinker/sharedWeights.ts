/** Reference-counted weights: they stay loaded while samples are drawn from them. */

interface Disposable {
  dispose(): Promise<void>;
}

export interface SharedWeights<W> {
  /** Runs work on the weights. */
  use<T>(work: (weights: W) => Promise<T>): Promise<T>;
  /** Disposes of the weights once the running work has ended. */
  release(): Promise<void>;
}

export function sharedWeights<W extends Disposable>(weights: Promise<W>): SharedWeights<W> {
  const running = new Set<Promise<unknown>>();
  weights.catch(() => undefined); // `use` reports the error
  return {
    async use(work) {
      const run = weights.then(work);
      running.add(run);
      try {
        return await run;
      } finally {
        running.delete(run);
      }
    },
    async release() {
      await Promise.allSettled(running);
      await weights.then((own) => own.dispose()).catch(() => undefined); // errors of opening or disposing do not matter here
    },
  };
}

export interface WeightsCache<W> {
  /** Runs work on the weights of this name, opening them if necessary. */
  use<T>(name: string, open: () => Promise<W>, work: (weights: W) => Promise<T>): Promise<T>;
  /** Closes the weights; the next use opens them again. */
  close(name: string): Promise<void>;
}

/** @param most weights open at a time; the least recently used are closed first. */
export function weightsCache<W extends Disposable>(most: number): WeightsCache<W> {
  const opened = new Map<string, SharedWeights<W>>();
  async function close(name: string): Promise<void> {
    const one = opened.get(name);
    opened.delete(name);
    await one?.release();
  }
  return {
    async use(name, open, work) {
      let one = opened.get(name);
      if (!one) {
        const weights = open();
        weights.catch(() => opened.delete(name));
        one = sharedWeights(weights);
      }
      opened.delete(name); // moves it to the end of the map's order
      opened.set(name, one);
      const [oldest] = opened.keys();
      if (opened.size > most && oldest !== undefined) void close(oldest);
      return await one.use(work);
    },
    close,
  };
}
