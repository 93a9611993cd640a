/** Classifies the sender of a request by headers that browsers set and pages cannot change, and checks its Host header. */
import { said } from "../http/body.ts";
import type { Refused } from "./refusal.ts";

/** The parts of a request's head that identify the sender. Absent headers are null or undefined. */
export interface RequestOrigin {
  readonly method: string;
  readonly host?: string | null | undefined;
  readonly origin?: string | null | undefined;
  /** Sec-Fetch-Site. */
  readonly site?: string | null | undefined;
}

export const requestOrigin = ({ method, headers }: Request): RequestOrigin => ({
  method,
  host: headers.get("host"),
  origin: headers.get("origin"),
  site: headers.get("sec-fetch-site"),
});

/**
 * A program; a page of this server; a page of another site. Browsers omit `Origin` on GET and HEAD, and `Sec-Fetch-Site` if they
 * are old or the address is not secure. Both are missing only for GET and HEAD, where another site's page cannot read the
 * response. A GET or HEAD for an address that a person typed counts as a program.
 */
export type SenderKind = "program" | "own page" | "other page";

export function senderKind({ method, host, origin, site }: RequestOrigin): SenderKind {
  const isSame = site === "same-origin";
  if (typeof origin === "string") {
    // a proxy may terminate TLS before this server
    const own = ["http", "https"].some((scheme) => origin === `${scheme}://${host?.toLowerCase()}`);
    return own && (isSame || typeof site !== "string") ? "own page" : "other page";
  }
  if (isSame) return "own page";
  if (typeof site !== "string") return "program";
  return site === "none" && isReadOnly(method) ? "program" : "other page";
}

/** Whether a method is read-only. */
export const isReadOnly = (method: string): boolean => method === "GET" || method === "HEAD";

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);

export const isLoopback = (host: string): boolean => loopback.has(host.toLowerCase());

/**
 * Whether a request's `Host` names this machine. A site may resolve its own name to this machine (DNS rebinding); `Host` is then that name.
 * @param more further names of this machine.
 */
export function isOwnName(host: string, more: readonly string[]): boolean {
  const name = host.replace(/:\d{1,5}$/, "").toLowerCase();
  return isLoopback(name) || more.includes(name);
}

/** For a server without keys. @param more as in {@link isOwnName}. @returns nothing if `Host` names this machine. */
export function wrongName({ host }: RequestOrigin, more: readonly string[]): Refused | undefined {
  if (isOwnName(host ?? "", more)) return undefined;
  return {
    status: 403,
    code: "host_refused",
    message: `got the host name ${said(host ?? "")}, expected localhost: without keys, this server answers this machine alone. Start it with --allow-host, or with keys.`,
  };
}

/** @param fix how to make the request allowed. */
export const otherPage = ({ origin, site }: RequestOrigin, fix: string): Refused => ({
  status: 403,
  code: "origin_refused",
  message: `Pages of another site (${said(origin ?? site ?? "")}) may not send this request. ${fix}`,
});
