/** Headers that the gateway passes on, in each direction. */
import type { Context } from "hono";
import type { Caller, Gated } from "../auth.ts";
import { holdsOurs } from "../keys.ts";
import type { Call } from "./answerer.ts";

/**
 * The client's headers and query that backends receive: never Whetstone's own keys.
 * @param more names of headers beside the usual ones.
 */
export function passedOn(
  c: Context<Gated>,
  more: readonly string[] = [],
): Pick<Call, "headers" | "credentials" | "keyHeader" | "query"> {
  const keyHeader = keyHeaders.find((name) => c.req.header(name) !== undefined);
  return {
    headers: named(c, [...forUpstream, ...more]),
    credentials: named(c, theirOwn),
    ...(keyHeader === undefined ? {} : { keyHeader }),
    query: queryFor(c.var.caller, new URL(c.req.url).search),
  };
}

function named(c: Context<Gated>, names: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of names) {
    const value = c.req.header(name);
    if (value !== undefined && !holdsOurs(`${value} ${basic(value)}`)) out[name] = value;
  }
  return out;
}

/** The user and password of basic authentication; "" for anything else. */
const basic = (value: string): string =>
  Buffer.from(/^Basic +(\S+)$/i.exec(value)?.[1] ?? "", "base64").toString("latin1");

/**
 * A query without the parameters that hold a key of this server; the others stay byte for byte. A key with a budget pays for the
 * model that the body names, and some servers put one of the query in its place.
 */
const queryFor = ({ budget }: Pick<Caller, "budget">, query: string): string =>
  withoutParameters(
    query,
    (name, value) => holdsOurs(`${name} ${value}`) || (!!budget && name.trim().toLowerCase() === "model"),
  );

/** A query without the parameters in which some servers take keys, for those that are not to get the client's. */
export const withoutKeys = (query: string): string =>
  withoutParameters(query, (name) => keyParameter.test(name.trim()));

/** @param query with its question mark, or "". @param isDropped of a parameter as it reads decoded; the others stay as they are. */
function withoutParameters(query: string, isDropped: (name: string, value: string) => boolean): string {
  const kept = query
    .slice(1)
    .split("&")
    .filter((parameter) => {
      const [name = "", value = ""] = [...new URLSearchParams(parameter)].flat();
      return !isDropped(name, value);
    });
  return query === "" || kept.length === 0 ? "" : `?${kept.join("&")}`;
}

const keyParameter = /^([a-z]+[-_])*(api)?(key|token|secret|password|signature)$|^(code|sig)$/i;

/** Headers in which clients send their key: OpenAI's, Anthropic's, Azure's. */
const keyHeaders = ["authorization", "x-api-key", "api-key"] as const;

/** Headers with provider keys and account ids. */
const theirOwn = [...keyHeaders, "openai-organization", "openai-project"];

const forUpstream = [
  "accept",
  "idempotency-key",
  "openai-beta",
  "anthropic-version",
  "anthropic-beta",
  "http-referer",
  "x-title",
  "traceparent",
  "tracestate",
];

/** @param more names of headers beside the usual ones. */
export const passedBack = (
  headers: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        forClient.has(name) || more.includes(name) || /^(x-ratelimit-|openai-|anthropic-)/.test(name),
    ),
  );

const forClient: ReadonlySet<string> = new Set([
  "content-type",
  "cache-control",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-request-id",
  "request-id",
]);

/** Parses a comma-separated header; nothing if it is absent. */
export const listed = (header: string | undefined): readonly string[] | undefined =>
  header
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** A name as a header value, percent-encoded if necessary. */
export const headerValue = (name: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/.test(name) ? name : encodeURIComponent(name);

/** The name in a header value, percent-encoded or plain. */
export function nameIn(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header; // such as "50 % off"
  }
}
