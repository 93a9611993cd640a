/** Sends a request until its answer has certainly arrived. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import { type Call, keptConnections, overFetch } from "./http.ts";
import { protobufType } from "./protocol.ts";

export interface TransportOptions {
  /** Base URL of the server, without `/api/v1`. */
  readonly url: string;
  /** Sent in the header `X-API-Key`, and nowhere else. */
  readonly key?: string;
  /** Used instead of persistent connections. */
  readonly fetch?: typeof fetch;
  /** Waits this many milliseconds. Default: a timer. */
  readonly wait?: (ms: number) => Promise<unknown>;
  /** Seconds without data before one HTTP call times out. Default 60. */
  readonly timeoutSeconds?: number;
  /** Seconds for which the same call may fail, and maximum wait for one result. Default 1800. */
  readonly patienceSeconds?: number;
  readonly stop?: AbortSignal;
  /** Receives user-facing lines about the server's state and the reasons of delays. */
  readonly say?: (line: string) => void;
}

export interface Answer {
  readonly status: number;
  /** Content type without its parameters. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  /** Milliseconds that the server asks its client to wait, at most a minute. Default 0. */
  readonly restMs?: number;
}

export type Body =
  | { readonly json: unknown }
  /** `zstd`: it is compressed. */
  | { readonly protobuf: Uint8Array<ArrayBuffer>; readonly zstd?: boolean };

export interface Sending {
  /** Statuses to return as answers too: the server does not support this kind of body. */
  readonly misread?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Transport {
  readonly url: string;
  readonly patienceMs: number;
  say(line: string): void;
  /** Milliseconds that a result has to be late before its wait is said again, by the path of the call: twice as many each time. */
  readonly late: Map<string, number>;
  /** Closes its connections. */
  close(): void;
  wait(ms: number): Promise<unknown>;
  /** User-facing reason why the last answer did not arrive. */
  broken(): string;
  /** One attempt. Undefined: the connection was lost, or the answer was truncated. */
  once(
    path: string,
    body: Body | undefined,
    headers?: Readonly<Record<string, string>>,
    method?: Call["method"],
  ): Promise<Answer | undefined>;
  /**
   * Retries until the answer is final: after a lost connection, 408, 429 or 5xx, and a few times after 409. Retries use the
   * same idempotency key and wait 0.5 s, then twice as long each time up to 10 s, or as long as the server asks.
   * @throws WhetstoneError `engine.failed` for another status than 2xx, or when patience ends.
   */
  send(path: string, body?: Body, more?: Sending): Promise<Answer>;
}

const again = (status: number): boolean => status === 408 || status === 429 || status >= 500;
/** How often a 409 counts as a duplicate of a request that is still running. */
const mostClashes = 5;
const longestRestMs = 60_000;

/** The server's message about a failure, at most one line. */
export function detailOf({ status, json }: Answer): string {
  const detail = typeof json === "object" && json !== null && "detail" in json ? json.detail : json;
  const text = typeof detail === "string" ? detail : JSON.stringify(detail);
  return `status ${status}${text === undefined ? "" : `: ${text.slice(0, 300)}`}`;
}

export function failed(where: string, got: string, fix: string, cause?: unknown): WhetstoneError {
  return new WhetstoneError("engine.failed", {
    where,
    got: got.replace(/\.$/, ""), // the server's message is followed by the rest of the sentence
    expected: "an answer of the Tinker API",
    fix,
    cause,
  });
}

/** Common prefix of all call URLs. */
export const baseOf = (url: string): string => `${url.replace(/\/+$/, "").replace(/\/api\/v1$/, "")}/api/v1/`;

export function transport({
  url,
  key,
  fetch: fetched,
  wait = setTimeout,
  timeoutSeconds = 60,
  patienceSeconds = 1800,
  stop,
  say = () => {},
}: TransportOptions): Transport {
  const base = baseOf(url);
  const own = key === undefined ? {} : { "X-API-Key": key };
  const patienceMs = patienceSeconds * 1000;
  const way = { base, silenceMs: timeoutSeconds * 1000, stop };
  const http = fetched ? overFetch(fetched, way) : keptConnections(way);
  let broken = "";

  async function once(
    path: string,
    body: Body | undefined,
    headers: Readonly<Record<string, string>> = {},
    method: Call["method"] = body ? "POST" : "GET",
  ): Promise<Answer | undefined> {
    stop?.throwIfAborted();
    const content = body && written(body);
    try {
      const { status, type, retryAfter, bytes } = await http.call({
        path,
        method,
        ...(content && { body: content.body }),
        headers: { ...own, ...content?.headers, ...headers },
      });
      const kind = type.split(";")[0]?.trim() ?? "";
      const answer = { status, type: kind, bytes, restMs: restOf(retryAfter) };
      if (kind === protobufType) return { ...answer, json: undefined };
      const json = jsonOf(bytes);
      if (json !== undefined || status < 200 || status >= 300) return { ...answer, json };
      // a truncated body is not an answer
      broken = `an answer of ${bytes.length} bytes${kind && ` of ${kind}`} that is no JSON`;
    } catch (e) {
      stop?.throwIfAborted();
      // if several addresses of a host were tried, the message is empty
      broken = (messageOf(e) || codeOf(e)).slice(0, 200);
    }
    return undefined;
  }

  /** The last message shown, until the server answers again: concurrent calls show it once. */
  let news = "";

  return {
    url,
    patienceMs,
    say,
    late: new Map(),
    wait,
    broken: () => broken,
    close: http.close,
    once,
    async send(path, body, { misread = [], headers: more } = {}) {
      const headers = { ...(body && { "X-Idempotency-Key": randomUUID() }), ...more };
      const call = `${body ? "POST" : "GET"} ${path}`;
      let [waited, clashes] = [0, 0];
      const began = performance.now();
      for (let pause = 500; ; pause = Math.min(2 * pause, 10_000)) {
        const answer = await once(path, body, headers);
        if (answer && (answer.status < 300 || misread.includes(answer.status))) {
          news = "";
          return answer;
        }
        const clash = answer?.status === 409 && ++clashes <= mostClashes;
        if (answer && !clash && !again(answer.status)) throw refused(path, call, answer);
        const said = answer ? detailOf(answer) : `no connection (${broken})`;
        if (Math.max(waited, performance.now() - began) >= patienceMs) {
          throw failed(
            call,
            said,
            `Check that a server answers at ${url}; it was retried for ${patienceSeconds} seconds. Then resume the run.`,
          );
        }
        const rest = Math.max(pause, answer?.restMs ?? 0);
        // single transient failures are not logged
        if (waited < 2000 && waited + rest >= 2000) {
          const line = `${path} at ${url}: ${said}; retrying for up to ${patienceSeconds} s.`;
          if (line !== news) say(line);
          news = line;
        }
        await wait(rest);
        waited += rest;
      }
    },
  };
}

/** Milliseconds from a header with seconds or a date. */
function restOf(retryAfter: string): number {
  if (retryAfter === "") return 0;
  const seconds = Number(retryAfter);
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : 1000 * seconds;
  return Math.max(0, Math.min(longestRestMs, ms)) || 0;
}

/** The fix when a server no longer knows its models, which it mostly keeps in memory. */
export const forgotten =
  "The server was restarted, or dropped the session. Resume the run from its last checkpoint: whetstone train --out FOLDER --resume.";

/** The fix when the URL is not a Tinker server. */
export const elsewhere = "Set --url to the address of a server with the Tinker API, without /api/v1.";

function refused(path: string, call: string, answer: Answer): WhetstoneError {
  const { status } = answer;
  return failed(call, detailOf(answer), fixFor(status, path), { status });
}

function fixFor(status: number, path: string): string {
  if (status === 401 || status === 403) {
    return "Set --key-env to the environment variable that holds the server's key.";
  }
  if (status === 402) return "Settle the account of the service, then resume the run.";
  if (status === 404 && path === "create_session") return elsewhere;
  if (status === 404 || status === 410) return forgotten;
  return "Correct what the server reports, then resume the run.";
}

/** Whether a server answered that a resource does not exist, or no longer exists. */
export const isForgotten = (e: unknown): boolean =>
  isWhetstoneError(e) && z.object({ status: z.literal([404, 410]) }).safeParse(e.parts.cause).success;

function written(body: Body) {
  if ("json" in body)
    return { body: JSON.stringify(body.json), headers: { "Content-Type": "application/json" } };
  const packed = body.zstd && { "Content-Encoding": "zstd" };
  return { body: body.protobuf, headers: { "Content-Type": protobufType, ...packed } };
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  } catch {
    return undefined;
  }
}

const codeOf = (e: unknown): string =>
  typeof e === "object" && e !== null && "code" in e ? String(e.code) : "no reason given";

/** Parses an answer with a schema. @throws WhetstoneError `engine.failed`. */
export function checked<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (e) {
    throw failed(path, messageOf(e).slice(0, 300), "Check that the server speaks the Tinker API.", e);
  }
}
