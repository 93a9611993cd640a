/** Sessions of the dashboard's own pages: whoever showed a key once is known by a cookie that scripts cannot read. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";
import type { Scope } from "../core/served.ts";
import { seal, unseal } from "./sealed.ts";

/** The key that was shown, and when the session ends in any case. */
export interface PageSession {
  /** Id of the key: once that is revoked or expires, so does this. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** What pages ask for. Keys may do more; what steals a cookie may not. */
export const pageScopes: ReadonlySet<Scope> = new Set(["read", "feedback", "admin"]);

/** Milliseconds for which a session lasts. */
export const sessionLasts = 12 * 3_600_000;

const purpose = "page session";
const claims = z.strictObject({ k: z.string(), x: z.number() });
const name = "whetstone";

/** @returns nothing where the browser sends none that was sealed here; whether it has expired is for the caller to see. */
export function sessionOf(c: Context, signing: Uint8Array): PageSession | undefined {
  const cookie = getCookie(c, name, "host") ?? getCookie(c, name);
  const said = claims.safeParse(cookie === undefined ? undefined : unseal(purpose, cookie, signing));
  return said.success ? { key: said.data.k, expires: said.data.x } : undefined;
}

/** For pages of this very origin, over TLS where they came over it. */
export function keepSession(
  c: Context,
  { key, expires }: PageSession,
  now: number,
  signing: Uint8Array,
): void {
  const maxAge = Math.floor((expires - now) / 1000);
  setCookie(c, name, seal(purpose, { k: key, x: expires }, signing), { ...attributes(c), maxAge });
}

export const endSession = (c: Context): void => {
  deleteCookie(c, name, attributes(c));
};

/** A page's own word on how it came here: proxies may end TLS before us. */
function attributes(c: Context) {
  const https = c.req.header("origin")?.startsWith("https://") === true;
  const always = { path: "/", httpOnly: true, sameSite: "Strict" } as const;
  return https ? ({ ...always, secure: true, prefix: "host" } as const) : always;
}
