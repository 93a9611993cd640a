/** Back-pressure: at most so many bytes on their way to a server. */

export interface Gate {
  /** Does the work once there is room. Work larger than all of it is let through when nothing else is on its way. */
  through<T>(bytes: number, work: () => Promise<T>): Promise<T>;
}

/** First come, first served. */
export function gate(most: number): Gate {
  let free = most;
  const waiting: { readonly bytes: number; readonly go: () => void }[] = [];
  const admit = (): void => {
    for (let next = waiting[0]; next && (free >= next.bytes || free === most); next = waiting[0]) {
      waiting.shift();
      free -= next.bytes;
      next.go();
    }
  };
  return {
    async through(bytes, work) {
      await new Promise<void>((go) => {
        waiting.push({ bytes, go });
        admit();
      });
      try {
        return await work();
      } finally {
        free += bytes;
        admit();
      }
    },
  };
}
