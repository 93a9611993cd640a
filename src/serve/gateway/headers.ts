/** Headers that the gateway passes on, in each direction. */
import type { Context } from "hono";
import { isOurs } from "../keys.ts";
import type { Call } from "./answerer.ts";

/** The client's headers that backends receive. */
export function passedOn(c: Context): Pick<Call, "headers" | "credentials" | "keyHeader"> {
  const credentials = named(c, theirOwn);
  const isInOwnHeader = credentials.authorization === undefined && credentials["x-api-key"] !== undefined;
  // Whetstone's own keys never go to a backend
  if (isOurs((credentials.authorization ?? "").replace(/^Bearer +/i, ""))) delete credentials.authorization;
  if (isOurs(credentials["x-api-key"] ?? "")) delete credentials["x-api-key"];
  return {
    headers: named(c, forUpstream),
    credentials,
    ...(isInOwnHeader ? { keyHeader: "x-api-key" } : {}),
  };
}

function named(c: Context, names: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of names) {
    const value = c.req.header(name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** Headers with provider keys and account ids. */
const theirOwn = ["authorization", "x-api-key", "openai-organization", "openai-project"];

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

export const passedBack = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => forClient.has(name) || /^(x-ratelimit-|openai-|anthropic-)/.test(name),
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
