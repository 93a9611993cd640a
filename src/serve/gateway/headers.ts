/** Headers that pass the gateway, each way. */
import type { Context } from "hono";
import { isOurs } from "../keys.ts";
import type { Call } from "./answerer.ts";

/** Of the client's headers, those that are for whoever answers. */
export function passedOn(c: Context): Pick<Call, "headers" | "credentials"> {
  const credentials = named(c, theirOwn);
  // a key of ours is for us alone
  if (isOurs((credentials.authorization ?? "").replace(/^Bearer +/i, ""))) delete credentials.authorization;
  return { headers: named(c, forUpstream), credentials };
}

function named(c: Context, names: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of names) {
    const value = c.req.header(name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** What an account is opened with, and which one. */
const theirOwn = ["authorization", "openai-organization", "openai-project"];

const forUpstream = [
  "accept",
  "idempotency-key",
  "openai-beta",
  "http-referer",
  "x-title",
  "traceparent",
  "tracestate",
];

export const passedBack = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => forClient.has(name) || /^(x-ratelimit-|openai-)/.test(name)),
  );

const forClient: ReadonlySet<string> = new Set([
  "content-type",
  "cache-control",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-request-id",
]);

/** A list as headers write it; nothing where there is none. */
export const listed = (header: string | undefined): readonly string[] | undefined =>
  header
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** A name as a header can hold it: percent-encoded where it has to be. */
export const headerValue = (name: string): string =>
  /^[\x20-\x24\x26-\x7e]*$/.test(name) ? name : encodeURIComponent(name);

/** The name that a header holds, percent-encoded or as it is. */
export function nameIn(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header; // such as "50 % off"
  }
}
