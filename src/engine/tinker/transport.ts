/** One request and its answer, sent again until it is certain to have arrived. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import { type Call, keptConnections, overFetch } from "./http.ts";
import { protobufType } from "./protocol.ts";

export interface TransportOptions {
  /** Of the server, without `/api/v1`. */
  readonly url: string;
  /** Goes into the header `X-API-Key`, and nowhere else. */
  readonly key?: string;
  /** In place of connections of its own. */
  readonly fetch?: typeof fetch;
  /** Waits so many milliseconds. Default: a timer. */
  readonly wait?: (ms: number) => Promise<unknown>;
  /** Longest silence of the server within one HTTP call. Default 60. */
  readonly timeoutSeconds?: number;
  /** Longest time in which the same call may fail, and longest wait for one result. Default 1800. */
  readonly patienceSeconds?: number;
  readonly stop?: AbortSignal;
  /** Takes a line for people: what the server does, and why nothing happens. */
  readonly say?: (line: string) => void;
}

export interface Answer {
  readonly status: number;
  /** Content type without its parameters. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
  /** How long the server would have its client wait, as far as that is a minute at most. Default 0. */
  readonly restMs?: number;
}

export type Body =
  | { readonly json: unknown }
  /** `zstd`: it is packed. */
  | { readonly protobuf: Uint8Array<ArrayBuffer>; readonly zstd?: boolean };

export interface Sending {
  /** Statuses that are an answer as well: the server does not know this kind of body. */
  readonly misread?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Transport {
  readonly url: string;
  readonly patienceMs: number;
  say(line: string): void;
  /** Lets go of its connections. */
  close(): void;
  wait(ms: number): Promise<unknown>;
  /** Why the last answer that did not arrive did not, for people. */
  broken(): string;
  /** One attempt. Undefined: the connection was lost, or the answer was cut. */
  once(
    path: string,
    body: Body | undefined,
    headers?: Readonly<Record<string, string>>,
    method?: Call["method"],
  ): Promise<Answer | undefined>;
  /**
   * Sends until there is an answer that repeating would not change: after a lost connection, 408, 429 and 5xx again, and a few
   * times after 409, with the same idempotency key, 0.5 s later and then twice as long each time, 10 s at most, or as long as the
   * server says.
   * @throws WhetstoneError `engine.failed` for another status than 2xx, or when patience ends.
   */
  send(path: string, body?: Body, more?: Sending): Promise<Answer>;
}

const again = (status: number): boolean => status === 408 || status === 429 || status >= 500;
/** How often a 409 is taken for a request that is still at work on the same. */
const mostClashes = 5;
const longestRestMs = 60_000;

/** What a server said about a failure, at most a line of it. */
export function detailOf({ status, json }: Answer): string {
  const detail = typeof json === "object" && json !== null && "detail" in json ? json.detail : json;
  const text = typeof detail === "string" ? detail : JSON.stringify(detail);
  return `status ${status}${text === undefined ? "" : `: ${text.slice(0, 300)}`}`;
}

export function failed(where: string, got: string, mend: string, cause?: unknown): WhetstoneError {
  return new WhetstoneError("engine.failed", {
    where,
    got: got.replace(/\.$/, ""), // a server speaks in sentences, of which the rest of this one follows
    expected: "an answer of the Tinker API",
    mend,
    cause,
  });
}

/** What the addresses of all calls begin with. */
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
      // a body that is cut is no answer
      broken = `an answer of ${bytes.length} bytes${kind && ` of ${kind}`} that is no JSON`;
    } catch (e) {
      stop?.throwIfAborted();
      // where several addresses of a name were tried, the message is empty
      broken = (messageOf(e) || codeOf(e)).slice(0, 200);
    }
    return undefined;
  }

  /** What people were told last, until the server answers again: calls that wait beside each other say it once. */
  let news = "";

  return {
    url,
    patienceMs,
    say,
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
            `Check that a server answers at ${url}; it was asked for ${patienceSeconds} seconds. Then resume the run.`,
          );
        }
        const rest = Math.max(pause, answer?.restMs ?? 0);
        // a hiccup is nobody's news
        if (waited < 2000 && waited + rest >= 2000) {
          const line = `${path} at ${url}: ${said}; asked again for up to ${patienceSeconds} s.`;
          if (line !== news) say(line);
          news = line;
        }
        await wait(rest);
        waited += rest;
      }
    },
  };
}

/** Of a header with seconds, or a date. */
function restOf(retryAfter: string): number {
  if (retryAfter === "") return 0;
  const seconds = Number(retryAfter);
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : 1000 * seconds;
  return Math.max(0, Math.min(longestRestMs, ms)) || 0;
}

/** What to do when a server knows nothing of what was on it: models mostly live in its memory. */
export const forgotten =
  "The server was started again, or dropped the session. Resume the run from its last checkpoint: whetstone train --out FOLDER --resume.";

/** Where something else answers. */
export const elsewhere =
  "Name the address of a server of the Tinker API with --url: what stands before /api/v1.";

function refused(path: string, call: string, answer: Answer): WhetstoneError {
  const { status } = answer;
  return failed(call, detailOf(answer), mendOf(status, path), { status });
}

function mendOf(status: number, path: string): string {
  if (status === 401 || status === 403) {
    return "Give the key of the server: --key-env names the environment variable that holds it.";
  }
  if (status === 402) return "Settle the account of the service, then resume the run.";
  if (status === 404 && path === "create_session") return elsewhere;
  if (status === 404 || status === 410) return forgotten;
  return "Correct what the server says, then resume the run.";
}

/** Whether a server answered that what was asked for is not there, or not any more. */
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

/** What a schema makes of an answer. @throws WhetstoneError `engine.failed`. */
export function checked<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (e) {
    throw failed(path, messageOf(e).slice(0, 300), "Check that the server speaks the Tinker API.", e);
  }
}
