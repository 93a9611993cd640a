/** Sends one request to the inbox and interprets the response. */
import { FeedbackError, type WrongField } from "./error.ts";
import type { Acknowledged } from "./types.ts";

export interface Address {
  /** Base URL of the server, e.g. `https://whetstone.example.com`. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly fetch: typeof fetch;
  /** Milliseconds for one request. */
  readonly timeout: number;
}

export type Posted =
  | { readonly kind: "kept"; readonly signals: readonly Acknowledged[] }
  /** A temporary failure: retry after `afterMs`, which respects the server's Retry-After. */
  | { readonly kind: "later"; readonly why: FeedbackError; readonly afterMs: number }
  | { readonly kind: "refused"; readonly why: FeedbackError };

/** @param signals JSON texts. @param leaving whether the page may be closed before the response arrives. */
export async function post(
  { url, key, fetch, timeout }: Address,
  signals: readonly string[],
  leaving = false,
): Promise<Posted> {
  let response: Response | undefined;
  try {
    response = await fetch(`${url}/v1/feedback`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: `[${signals.join(",")}]`,
      keepalive: leaving,
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(timeout),
    });
    return await meaningOf(response, signals.length);
  } catch (cause) {
    const message = response
      ? `The response of ${url} broke off. Check the connection and any proxies.`
      : `${url} cannot be reached. Check that whetstone serve runs there.`;
    return {
      kind: "later",
      why: new FeedbackError({ kind: "undelivered", message, cause }),
      afterMs: 0,
    };
  }
}

/** Statuses after which a retry may succeed. */
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 507]);

async function meaningOf(response: Response, count: number): Promise<Posted> {
  const { status } = response;
  if (response.ok) {
    // a response that breaks off is retried, whatever its status
    const body = jsonOf(await response.text());
    const signals = listAt(body, "signals").filter(isAcknowledged);
    if (signals.length === count) return { kind: "kept", signals };
    const message = `The response is not that of a feedback inbox (status ${status}). Check the url.`;
    return { kind: "refused", why: new FeedbackError({ kind: "refused", message, status }) };
  }
  const error = at(jsonOf(await response.text().catch(() => "")), "error");
  const [said, code] = [at(error, "message"), at(error, "code")];
  const parts = {
    message: typeof said === "string" ? said : `The server responded with status ${status}.`,
    status,
    ...(typeof code === "string" ? { code } : {}),
    fields: listAt(error, "fields").filter(isField),
  };
  if (!passing.has(status)) {
    return { kind: "refused", why: new FeedbackError({ kind: "refused", ...parts }) };
  }
  const seconds = Number(response.headers.get("retry-after") ?? 0);
  return {
    kind: "later",
    why: new FeedbackError({ kind: "undelivered", ...parts }),
    afterMs: Number.isFinite(seconds) ? 1000 * Math.max(0, seconds) : 0,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function listAt(value: unknown, name: string): readonly unknown[] {
  const found = at(value, name);
  return Array.isArray(found) ? found : [];
}

const isAcknowledged = (x: unknown): x is Acknowledged =>
  typeof at(x, "id") === "string" && typeof at(x, "duplicate") === "boolean";
const isField = (x: unknown): x is WrongField =>
  typeof at(x, "path") === "string" && typeof at(x, "message") === "string";
