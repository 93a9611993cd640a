/** Who sent a request, by what browsers say of it and no page can change; and under which name this machine was asked. */
import { said } from "../http/body.ts";
import type { Refused } from "./refusal.ts";

/** Of a request's head, what says who asks. Absent headers are null or undefined. */
export interface Marks {
  readonly method: string;
  readonly host?: string | null | undefined;
  readonly origin?: string | null | undefined;
  /** Sec-Fetch-Site. */
  readonly site?: string | null | undefined;
}

export const marksOf = ({ method, headers }: Request): Marks => ({
  method,
  host: headers.get("host"),
  origin: headers.get("origin"),
  site: headers.get("sec-fetch-site"),
});

/**
 * A program; a page that this server sent; a page of another site. Browsers leave out `Origin` where a page only looks (GET,
 * HEAD), and `Sec-Fetch-Site` where they are old or the address is no secure one; both are missing only where a page looks, and
 * then it does not get to see the answer. An address that a person typed counts as a program, as long as it only looks.
 */
export type Asker = "program" | "own page" | "other page";

export function askerOf({ method, host, origin, site }: Marks): Asker {
  const isSame = site === "same-origin";
  if (typeof origin === "string") {
    // proxies may end TLS before us
    const own = ["http", "https"].some((scheme) => origin === `${scheme}://${host?.toLowerCase()}`);
    return own && (isSame || typeof site !== "string") ? "own page" : "other page";
  }
  if (isSame) return "own page";
  if (typeof site !== "string") return "program";
  return site === "none" && isLook(method) ? "program" : "other page";
}

/** Whether a method changes nothing. */
export const isLook = (method: string): boolean => method === "GET" || method === "HEAD";

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1", "[::1]"]);

export const isLoopback = (host: string): boolean => loopback.has(host.toLowerCase());

/**
 * Whether a request's `Host` names this machine: a page may have a name of its own lead here, and then sends that name along.
 * @param more names that are this machine's too.
 */
export function isOwnName(host: string, more: readonly string[]): boolean {
  const name = host.replace(/:\d{1,5}$/, "").toLowerCase();
  return isLoopback(name) || more.includes(name);
}

/** For a server without keys. @param more as of {@link isOwnName}. @returns nothing where it was asked under a name of this machine. */
export function wrongName({ host }: Marks, more: readonly string[]): Refused | undefined {
  if (isOwnName(host ?? "", more)) return undefined;
  return {
    status: 403,
    code: "host_refused",
    message: `Asked for under the name ${said(host ?? "")}, expected localhost: without keys, this server answers to this machine alone. Start it with --allow-host, or with keys.`,
  };
}

/** @param mend what lets it, if anything does. */
export const otherPage = ({ origin, site }: Marks, mend: string): Refused => ({
  status: 403,
  code: "origin_refused",
  message: `A page of another site asks (${said(origin ?? site ?? "")}), which it may not. ${mend}`,
});
