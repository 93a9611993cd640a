/** Results that clients poll for. */
import type { Json } from "../../core/json.ts";
import { type Fault, faultOf } from "./fault.ts";

/** A result: JSON, or protobuf for clients that accept it, which is shorter. */
export type Result =
  | { readonly kind: "json"; readonly json: Json }
  | {
      readonly kind: "protobuf";
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** Converts the bytes to JSON. */
      readonly json: (bytes: Uint8Array) => object;
    }
  | { readonly kind: "failed"; readonly fault: Fault };

/** A request that a client may retry. */
export interface Known {
  /** Digest of the request. */
  readonly body: string;
  /** Id under which its result is polled. */
  readonly request: string;
}

export type Polled = Result | { readonly kind: "pending" } | { readonly kind: "unknown" | "gone" };

export interface Futures {
  /** Opens a future with a new id. @param bytes approximate memory that it holds until it settles. */
  open(bytes: number): { readonly id: string; settle(work: () => Promise<Result>): Promise<Result> };
  /** Whether too many futures are pending. */
  readonly full: boolean;
  /** Waits at most `ms` milliseconds for the result. */
  poll(id: string, ms: number): Promise<Polled>;
}

interface Future {
  result?: Result;
  readonly settled: PromiseWithResolvers<Result>;
}

export interface FutureLimits {
  /** Most results kept; the oldest is dropped first, and is `gone` then. */
  readonly results: number;
  /** Most bytes of all kept results together, not counting the last one. */
  readonly resultBytes: number;
  readonly pending: number;
  readonly pendingBytes: number;
}
const usual: FutureLimits = {
  results: 4096,
  resultBytes: 512 * 2 ** 20,
  pending: 8192,
  pendingBytes: 1024 * 2 ** 20,
};

const sizeOf = (result: Result): number => (result.kind === "protobuf" ? result.bytes.length : 0);

/** @param prefix part of every id, so that ids of an earlier server are not confused with this server's. */
export function futures(prefix: string, limits: FutureLimits = usual): Futures {
  const open = new Map<string, Future>();
  const done: { readonly id: string; readonly bytes: number }[] = [];
  let count = 0;
  let [pending, pendingBytes, doneBytes] = [0, 0, 0];
  const isOver = (): boolean => done.length > limits.results || doneBytes > limits.resultBytes;
  return {
    open(bytes) {
      const id = `${prefix}-${++count}`;
      const future: Future = { settled: Promise.withResolvers() };
      open.set(id, future);
      pending++;
      pendingBytes += bytes;
      return {
        id,
        async settle(work) {
          const result = await work().catch((e: unknown): Result => ({ kind: "failed", fault: faultOf(e) }));
          pending--;
          pendingBytes -= bytes;
          future.result = result;
          future.settled.resolve(result);
          done.push({ id, bytes: sizeOf(result) });
          doneBytes += sizeOf(result);
          while (isOver() && done.length > 1) {
            const oldest = done.shift()!;
            open.delete(oldest.id);
            doneBytes -= oldest.bytes;
          }
          return result;
        },
      };
    },
    get full() {
      return pending >= limits.pending || pendingBytes >= limits.pendingBytes;
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
  };
}
