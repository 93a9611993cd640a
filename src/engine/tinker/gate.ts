/** Back-pressure: limits how much is in flight to a server. */

export interface Gate {
  /** Runs the work once there is room. Work larger than the limit runs when nothing else is in flight. */
  through<T>(size: number, work: () => Promise<T>): Promise<T>;
}

/** First come, first served. */
export function gate(most: number): Gate {
  let free = most;
  const waiting: { readonly size: number; readonly go: () => void }[] = [];
  const admit = (): void => {
    for (let next = waiting[0]; next && (free >= next.size || free === most); next = waiting[0]) {
      waiting.shift();
      free -= next.size;
      next.go();
    }
  };
  return {
    async through(size, work) {
      await new Promise<void>((go) => {
        waiting.push({ size, go });
        admit();
      });
      try {
        return await work();
      } finally {
        free += size;
        admit();
      }
    },
  };
}
