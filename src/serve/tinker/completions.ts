/** Which requests of a sampling session have ended, for clients that ask for all of them at once. */

export type Completion =
  | {
      readonly state: "finished";
      readonly request_id: string;
      readonly response_payload_uncompressed_size?: number;
    }
  | { readonly state: "failed"; readonly request_id: string };

export interface Completions {
  add(completion: Completion): void;
  /**
   * Those after a cursor, and the cursor behind them; waits so many milliseconds at most for the first. What lies before
   * a cursor was seen, and is forgotten.
   */
  since(cursor: number, ms: number): Promise<{ readonly completions: readonly Completion[]; cursor: number }>;
}

/** @param most that are kept: results older than that are gone as well. */
export function completions(most = 4096): Completions {
  let kept: Completion[] = [];
  /** How many were forgotten: those that were seen, and the oldest of too many. */
  let seen = 0;
  let next = Promise.withResolvers<void>();
  return {
    add(completion) {
      kept.push(completion);
      if (kept.length > most) {
        kept.shift();
        seen++;
      }
      next.resolve();
      next = Promise.withResolvers();
    },
    async since(cursor, ms) {
      const forgotten = Math.min(Math.max(0, cursor - seen), kept.length);
      kept = kept.slice(forgotten);
      seen += forgotten;
      if (kept.length === 0 && ms > 0) {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<void>((resolve) => {
          timer = setTimeout(resolve, ms);
        });
        await Promise.race([next.promise, late]);
        clearTimeout(timer);
      }
      return { completions: [...kept], cursor: seen + kept.length };
    },
  };
}
