/** Places for work that is done together: so many at once, the others in the order in which they came, up to a limit. */

export interface PlaceLimits {
  readonly atOnce: number;
  /** Requests that may wait, whatever each takes. */
  readonly waiting: number;
}

export interface Places {
  readonly limits: PlaceLimits;
  /**
   * Waits for places. More than there are count as all of them.
   * @param gone gives up a request that waits.
   */
  take(count: number, gone: AbortSignal): Promise<{ leave(): void } | "full" | "gone">;
}

interface Waiting {
  readonly count: number;
  readonly enter: () => void;
}

export function places(limits: PlaceLimits): Places {
  const waiting: Waiting[] = [];
  let free = limits.atOnce;

  function admit(): void {
    while (waiting.length > 0 && waiting[0]!.count <= free) {
      const { count, enter } = waiting.shift()!;
      free -= count;
      enter();
    }
  }

  return {
    limits,
    async take(stated, gone) {
      if (gone.aborted) return "gone";
      const count = Math.min(stated, limits.atOnce);
      const isFree = waiting.length === 0 && count <= free;
      if (!isFree && waiting.length >= limits.waiting) return "full";
      const entered = await new Promise<boolean>((resolve) => {
        const mine: Waiting = {
          count,
          enter() {
            gone.removeEventListener("abort", giveUp);
            resolve(true);
          },
        };
        function giveUp(): void {
          waiting.splice(waiting.indexOf(mine), 1);
          resolve(false);
          // those behind it may need fewer places
          admit();
        }
        gone.addEventListener("abort", giveUp, { once: true });
        waiting.push(mine);
        admit();
      });
      if (!entered) return "gone";
      return {
        leave() {
          free += count;
          admit();
        },
      };
    },
  };
}
