/** Results that clients come back for. */
import type { Json } from "../../core/json.ts";
import { type Fault, faultOf } from "./fault.ts";

/** A result: JSON, or protobuf for those whom JSON would be too long for. */
export type Result =
  | { readonly kind: "json"; readonly json: Json }
  | { readonly kind: "protobuf"; readonly bytes: Uint8Array<ArrayBuffer>; readonly json: () => object }
  | { readonly kind: "failed"; readonly fault: Fault };

export type Polled = Result | { readonly kind: "pending" } | { readonly kind: "unknown" | "gone" };

export interface Futures {
  /** A new one, under a name that was never used. */
  open(): { readonly id: string; settle(work: () => Promise<Result>): Promise<Result> };
  /** Waits so many milliseconds at most. */
  poll(id: string, ms: number): Promise<Polled>;
  /** Once nothing runs, or after so many milliseconds. */
  idle(ms: number): Promise<void>;
}

interface Future {
  result?: Result;
  readonly settled: PromiseWithResolvers<Result>;
}

/**
 * @param prefix part of every name, so that those of an earlier server are not taken for this one's.
 * @param most results that are kept; the oldest goes first, and is `gone` then.
 */
export function futures(prefix: string, most = 4096): Futures {
  const open = new Map<string, Future>();
  const done: string[] = [];
  const running = new Set<Promise<Result>>();
  let count = 0;
  return {
    open() {
      const id = `${prefix}-${++count}`;
      const future: Future = { settled: Promise.withResolvers() };
      open.set(id, future);
      return {
        id,
        async settle(work) {
          const run = work().catch((e: unknown): Result => ({ kind: "failed", fault: faultOf(e) }));
          running.add(run);
          const result = await run;
          running.delete(run);
          future.result = result;
          future.settled.resolve(result);
          done.push(id);
          if (done.length > most) open.delete(done.shift() ?? id);
          return result;
        },
      };
    },
    async poll(id, ms) {
      const future = open.get(id);
      if (!future) {
        const number = id.startsWith(`${prefix}-`) ? Number(id.slice(prefix.length + 1)) : Number.NaN;
        return { kind: number >= 1 && number <= count ? "gone" : "unknown" };
      }
      if (future.result) return future.result;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<Polled>((resolve) => {
        timer = setTimeout(() => resolve({ kind: "pending" }), ms);
      });
      return await Promise.race([future.settled.promise, late]).finally(() => clearTimeout(timer));
    },
    async idle(ms) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      });
      await Promise.race([Promise.allSettled(running), late]);
      clearTimeout(timer);
    },
  };
}
