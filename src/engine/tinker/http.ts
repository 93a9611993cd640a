/** HTTP over persistent connections, at a seventh of the CPU time that `fetch` takes. */
import { Pool } from "undici";

export interface Call {
  /** Path relative to the base URL. */
  readonly path: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface Called {
  readonly status: number;
  /** Content type with its parameters; "" if absent. */
  readonly type: string;
  /** The value of the Retry-After header; "" if absent. */
  readonly retryAfter: string;
  readonly bytes: Uint8Array;
}

export interface Http {
  /** @throws the connection's error, before or during the answer. */
  call(call: Call): Promise<Called>;
  close(): void;
}

export interface HttpOptions {
  /** Base URL of all calls, with a trailing slash. */
  readonly base: string;
  /** Milliseconds without data before a timeout: until the answer starts, and between its chunks. */
  readonly silenceMs: number;
  /** Aborts all calls, including later ones. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Streams and abort signals per call are avoided. The number of concurrent calls is not limited: most wait long for their
 * answers, and a heartbeat queued behind them would be late.
 */
export function keptConnections({ base, silenceMs, stop }: HttpOptions): Http {
  const { origin, pathname } = new URL(base);
  const pool = new Pool(origin, {
    connect: { timeout: Math.min(silenceMs, 10_000) },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  const end = (): void => void pool.destroy();
  stop?.addEventListener("abort", end, { once: true });
  return {
    call: ({ path, method, headers, body }) =>
      new Promise((resolve, reject) => {
        const parts: Buffer[] = [];
        let [status, type, retryAfter] = [0, "", ""];
        pool.dispatch(
          { path: pathname + path, method, headers, ...(body !== undefined && { body }) },
          {
            onRequestStart: () => undefined,
            onResponseStart(_, code, given) {
              status = code;
              type = String(given["content-type"] ?? "");
              retryAfter = String(given["retry-after"] ?? "");
            },
            onResponseData: (_, part) => void parts.push(part),
            onResponseEnd: () => resolve({ status, type, retryAfter, bytes: joined(parts) }),
            onResponseError: (_, e) => reject(e),
          },
        );
      }),
    close() {
      stop?.removeEventListener("abort", end);
      end();
    },
  };
}

const joined = (parts: readonly Buffer[]): Buffer =>
  parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);

/** The same through a given `fetch`. */
export function overFetch(fetched: typeof fetch, { base, silenceMs, stop }: HttpOptions): Http {
  return {
    async call({ path, ...init }) {
      const late = AbortSignal.timeout(silenceMs);
      const answer = await fetched(base + path, {
        ...init,
        signal: stop ? AbortSignal.any([stop, late]) : late,
      });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const said = (name: string): string => answer.headers.get(name) ?? "";
      return { status: answer.status, type: said("Content-Type"), retryAfter: said("Retry-After"), bytes };
    },
    close: () => undefined,
  };
}
