/** Places for work that is done together: so many at once, the others wait, up to a limit, and those who ask take turns. */

export interface PlaceLimits {
  readonly atOnce: number;
  /** Requests that may wait, whatever each takes. */
  readonly waiting: number;
}

export interface Places {
  readonly limits: PlaceLimits;
  /**
   * Waits for places. More than there are count as all of them. Who has the fewest places is next, and of one's own requests the
   * oldest. Where no more may wait, whoever has the most requests waiting loses the latest of them to one who has fewer.
   * @param gone gives up a request that waits. @param who asks. Default: the same for all.
   */
  take(count: number, gone: AbortSignal, who?: string): Promise<{ leave(): void } | "full" | "gone">;
}

interface Waiting {
  readonly who: string;
  readonly count: number;
  readonly end: (how: "entered" | "full" | "gone") => void;
}

export function places(limits: PlaceLimits): Places {
  /** Oldest first. */
  const waiting: Waiting[] = [];
  /** Places taken, by who took them. */
  const taken = new Map<string, number>();
  let free = limits.atOnce;

  function move(who: string, count: number): void {
    const now = (taken.get(who) ?? 0) + count;
    if (now === 0) taken.delete(who);
    else taken.set(who, now);
    free -= count;
  }

  function admit(): void {
    while (waiting.length > 0) {
      const has = ({ who }: Waiting): number => taken.get(who) ?? 0;
      const next = waiting.reduce((least, one) => (has(one) < has(least) ? one : least));
      // smaller ones behind it wait too, or it might wait for ever
      if (next.count > free) return;
      waiting.splice(waiting.indexOf(next), 1);
      move(next.who, next.count);
      next.end("entered");
    }
  }

  /** Makes room for one who waits less than another. @returns whether there is room. */
  function madeRoom(who: string): boolean {
    if (waiting.length < limits.waiting) return true;
    const counts = new Map<string, number>();
    for (const one of waiting) counts.set(one.who, (counts.get(one.who) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    if ((counts.get(who) ?? 0) + 1 >= most) return false;
    const last = waiting.findLastIndex((one) => counts.get(one.who) === most);
    waiting.splice(last, 1)[0]!.end("full");
    return true;
  }

  return {
    limits,
    async take(stated, gone, who = "") {
      if (gone.aborted) return "gone";
      const count = Math.min(stated, limits.atOnce);
      const isFree = waiting.length === 0 && count <= free;
      if (!isFree && !madeRoom(who)) return "full";
      const how = await new Promise<"entered" | "full" | "gone">((resolve) => {
        const mine: Waiting = {
          who,
          count,
          end(how) {
            gone.removeEventListener("abort", giveUp);
            resolve(how);
          },
        };
        function giveUp(): void {
          waiting.splice(waiting.indexOf(mine), 1);
          mine.end("gone");
          // those behind it may need fewer places
          admit();
        }
        gone.addEventListener("abort", giveUp, { once: true });
        waiting.push(mine);
        admit();
      });
      if (how !== "entered") return how;
      return {
        leave() {
          move(who, -count);
          admit();
        },
      };
    },
  };
}
