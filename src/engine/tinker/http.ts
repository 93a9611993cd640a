/** One HTTP call, over connections that are kept: a seventh of the processor time that `fetch` takes. */
import { Pool } from "undici";

export interface Call {
  /** Below the address that the calls share. */
  readonly path: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface Called {
  readonly status: number;
  /** Content type with its parameters; "" where there is none. */
  readonly type: string;
  /** What its header of this name says; "" where there is none. */
  readonly retryAfter: string;
  readonly bytes: Uint8Array;
}

export interface Http {
  /** @throws whatever breaks the connection, before the answer or in its midst. */
  call(call: Call): Promise<Called>;
  close(): void;
}

export interface HttpOptions {
  /** What all calls share of their addresses, with a slash at its end. */
  readonly base: string;
  /** Longest silence of the other side, in milliseconds: before its answer, and between the pieces of one. */
  readonly silenceMs: number;
  /** Ends all calls, also later ones. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * Calls that are handed on as they come, with no stream around an answer and no signal around a call. As many at a time as there are:
 * most wait long for their answers, and a heartbeat that stood behind them would come too late.
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

/** The same over another `fetch`. */
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
