/** Login sessions of the dashboard's pages: after a login with a key, an HttpOnly cookie identifies the client. */
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { z } from "zod";
import type { Scope } from "../core/served.ts";
import { signClaims, verifyClaims } from "./signedToken.ts";

/** The key of the login, and the latest end of the session. */
export interface PageSession {
  /** Id of the key: the session ends when the key is revoked or expires. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Scopes of a page session. A key may have more; a stolen cookie does not. */
export const pageScopes: ReadonlySet<Scope> = new Set(["read", "feedback", "admin"]);

/** Milliseconds that a session lasts. */
export const sessionLasts = 12 * 3_600_000;

const purpose = "page session";
const claims = z.strictObject({ k: z.string(), x: z.number() });
const name = "whetstone";

/** @returns nothing if the cookie is missing or was not sealed by this server. The caller checks the expiry. */
export function sessionOf(c: Context, signing: Uint8Array): PageSession | undefined {
  const cookie = getCookie(c, name, "host") ?? getCookie(c, name);
  const said = claims.safeParse(cookie === undefined ? undefined : verifyClaims(purpose, cookie, signing));
  return said.success ? { key: said.data.k, expires: said.data.x } : undefined;
}

/** Sets the cookie: for this origin only, and `secure` if the page was loaded over TLS. */
export function keepSession(
  c: Context,
  { key, expires }: PageSession,
  now: number,
  signing: Uint8Array,
): void {
  const maxAge = Math.floor((expires - now) / 1000);
  setCookie(c, name, signClaims(purpose, { k: key, x: expires }, signing), { ...attributes(c), maxAge });
}

export const endSession = (c: Context): void => {
  deleteCookie(c, name, attributes(c));
};

/** Cookie attributes. The Origin header tells whether the page uses TLS, since a proxy may terminate TLS before this server. */
function attributes(c: Context) {
  const https = c.req.header("origin")?.startsWith("https://") === true;
  const always = { path: "/", httpOnly: true, sameSite: "Strict" } as const;
  return https ? ({ ...always, secure: true, prefix: "host" } as const) : always;
}
