/** Ended requests of a sampling session, for clients that poll all of them in one request. */

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
   * The completions after a cursor, and the next cursor; waits at most `ms` milliseconds for the first. Completions before the
   * cursor are acknowledged and dropped.
   */
  since(cursor: number, ms: number): Promise<{ readonly completions: readonly Completion[]; cursor: number }>;
}

/** @param most completions to keep; results older than that are dropped too. */
export function completions(most = 4096): Completions {
  let kept: Completion[] = [];
  /** Number of dropped completions: acknowledged ones, and the oldest above `most`. */
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
