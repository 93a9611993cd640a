/** Authentication, authorisation and rate limits: keys, browser tokens, sessions of the dashboard's pages, pages of other sites. */

import type { ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import { mapById } from "../common/mapById.ts";
import type { Budget } from "../core/budget.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { AccessKey, Scope } from "../core/served.ts";
import { networkOf } from "../http/server.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { type BrowserToken, isLive, isOurs, matchKey, type Only, readToken, scopes } from "./keys.ts";
import { type Rate, tokenBuckets } from "./limits.ts";
import { isLinkFollowed, otherPages } from "./otherPages.ts";
import { type PageSession, pageScopes, sessionLasts, sessionOf } from "./pageSession.ts";
import { type Refused, refusal } from "./refusal.ts";
import {
  isLoopback,
  isReadOnly,
  otherPage,
  requestOrigin,
  type SenderKind,
  senderKind,
  wrongName,
} from "./requestOrigin.ts";

/** An authenticated client. */
export interface Caller {
  /** Id of the key, or of the key that requested the browser token. Absent: a client on this machine without a key. */
  readonly key?: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly only?: Only;
  /** Of the key. */
  readonly budget?: Budget;
  /** Set if the client is authenticated by a session of this server's pages. */
  readonly session?: PageSession;
  /** Set for a page without its own key: a page of this server, or of another site. */
  readonly page?: "own" | "other";
}

/** Context of a Hono app behind the gate. */
export interface Gated {
  Variables: { caller: Caller };
  /** Set by @hono/node-server; absent in tests that call the app without a server. */
  Bindings: {
    readonly incoming?: {
      readonly socket: { readonly remoteAddress?: string | undefined; destroy?(): void };
    };
    readonly outgoing?: ServerResponse;
  };
}

/** Settings of {@link gate}. */
export interface GateOptions {
  readonly production: Pick<TrafficStore, "keys">;
  /** Whether callers on this machine need no key. For servers that bind to the loopback interface alone. */
  readonly open: boolean;
  /** Sites whose pages may give feedback, e.g. `https://app.example.com`; `*` for all. Default none. */
  readonly origins?: readonly string[];
  /** Host names besides localhost that an open server accepts. */
  readonly hosts?: readonly string[];
  /** Number of trusted proxies in front of the server, whose forwarded client address is used. Default 0. */
  readonly proxies?: number;
  /** 32 bytes that browser tokens are signed with. */
  readonly signing: Uint8Array;
  readonly rates?: Partial<Rates>;
  readonly now?: () => number;
}

/** Rate limits of a {@link gate}. */
export interface Rates {
  /** By key. */
  readonly key: Rate;
  /** By browser token. */
  readonly token: Rate;
  /** By address: requests with browser tokens. */
  readonly address: Rate;
  /** By address: failed authentications. */
  readonly failed: Rate;
}

export const defaultRates: Rates = {
  key: { perSecond: 2000, burst: 4000 },
  token: { perSecond: 2, burst: 30 },
  address: { perSecond: 20, burst: 200 },
  failed: { perSecond: 1, burst: 20 },
};

/** Hono middleware that authenticates requests and checks scopes and rate limits. */
export interface Gate {
  /** For every path: refuses pages of other sites, and host names used for DNS rebinding. */
  readonly enter: MiddlewareHandler<Gated>;
  /**
   * For a path that requires a scope; sets `caller`.
   * @param narrowed accepts narrowed keys too: the route then checks what they are narrowed to. Default: narrowed keys are refused.
   */
  allow(scope: Scope, narrowed?: "narrowed too"): MiddlewareHandler<Gated>;
  /** Opens a page session for a key. A wrong key counts against the rate limit of the client's address. */
  admit(c: Context<Gated>, secret: string): Promise<PageSession | Refused>;
  readonly signing: Uint8Array;
  now(): number;
  /** Call after adding or revoking keys: this process applies them from the next request on, other processes within two seconds. */
  changed(): void;
}

/** Milliseconds for which keys are cached. */
const fresh = 2000;

/** Creates a gate. @throws WhetstoneError `config.invalid` for an origin that no browser sends. */
export function gate(options: GateOptions): Gate {
  const { production, open, origins = [], hosts = [], proxies = 0, signing, now = Date.now } = options;
  const rates = { ...defaultRates, ...options.rates };
  const buckets = {
    key: tokenBuckets(rates.key),
    token: tokenBuckets(rates.token),
    address: tokenBuckets(rates.address),
    failed: tokenBuckets(rates.failed),
  };
  const keys = keyring(production, now);
  const others = otherPages(origins);

  /** The caller that a token authenticates, or why it authenticates none. */
  async function identified(token: string): Promise<Caller | Refused> {
    const find = await keys.find();
    if (token.startsWith("wsb_")) return ofToken(readToken(token, signing), find, now());
    const key = matchKey(token, find);
    if (!key) return unauthorised(noSuchKey);
    if (!isLive(key, now())) {
      return unauthorised(key.revoked === undefined ? "This key has expired." : "This key was revoked.");
    }
    const { id, only, budget } = key;
    return { key: id, scopes: new Set(key.scopes), ...(only && { only }), ...(budget && { budget }) };
  }

  /** The given refusal, or "too many requests" after too many failures. */
  const refusedFor = (c: Context<Gated>, why: Refused): Refused =>
    limited(buckets.failed.take(addressOfCaller(c), now())) ?? why;
  const addressOfCaller = (c: Context<Gated>): string =>
    addressOf(c.env?.incoming?.socket.remoteAddress, c.req.raw.headers, proxies);

  return {
    signing,
    now,
    async admit(c, secret) {
      const caller = secret.startsWith("wst_") ? await identified(secret) : unauthorised(noSuchKey);
      if ("status" in caller) return refusedFor(c, caller);
      if (!caller.scopes.has("read")) return outOfScope("read", caller);
      if (caller.only || caller.key === undefined) return narrow;
      return { key: caller.key, expires: now() + sessionLasts };
    },
    changed: keys.forget,
    enter: async (c, next) => {
      const marks = requestOrigin(c.req.raw);
      const strange = open ? wrongName(marks, hosts) : undefined;
      if (strange) return refusal(strange);
      const answer = async (): Promise<void> => {
        await next();
        c.res.headers.set("x-content-type-options", "nosniff");
      };
      if (senderKind(marks) !== "other page") return answer();
      // a followed link shows this server's page to the person; the page that was left cannot read it
      const refused = isLinkFollowed(c.req.raw) ? undefined : others.refusedAt(c.req, marks);
      if (refused) return refusal(refused);
      return others.crossOrigin(c, answer);
    },
    allow: (scope, narrowed) => async (c, next) => {
      const { headers } = c.req.raw;
      const marks = requestOrigin(c.req.raw);
      const asker = senderKind(marks);
      const foreign = asker === "other page" ? others.refusedAt(c.req, marks) : undefined;
      if (foreign) return refusal(foreign);
      const token = tokenOf(headers);
      const forwarded = forwarders.some((name) => headers.has(name));
      if (open && !forwarded && !isOurs(token)) {
        const caller = withoutKey[asker];
        if (!caller.scopes.has(scope)) return refusal(notForPages(scope, caller));
        c.set("caller", caller);
        return next();
      }
      const session = token === "" ? sessionOf(c, signing) : undefined;
      // browsers send cookies with requests of other sites' pages too; requests that change something carry an Origin
      const own = asker === "own page" || (asker === "program" && isReadOnly(marks.method));
      if (session && !own)
        return refusal(otherPage(marks, "Ask from this server's own pages, or show a key."));
      if (token === "" && !session) return refusal(open ? fromOutside : noKey);
      const caller = session ? ofSession(session, await keys.find(), now()) : await identified(token);
      if ("status" in caller) return refusal(session ? caller : refusedFor(c, caller));
      if (!caller.scopes.has(scope)) return refusal(outOfScope(scope, caller));
      if (caller.only && !narrowed) return refusal(narrow);
      const wait = token.startsWith("wsb_")
        ? buckets.token.take(token, now()) || buckets.address.take(addressOfCaller(c), now())
        : buckets.key.take(caller.key ?? "", now());
      const refused = limited(wait);
      if (refused) return refusal(refused);
      c.set("caller", asker === "other page" ? { ...caller, page: "other" } : caller);
      return next();
    },
  };
}

/**
 * The key that a request shows: as a bearer token, as Anthropic's clients send it in `x-api-key`, or as Azure's send it in
 * `api-key`. Of several, it is this server's: the others are then for the provider.
 */
function tokenOf(headers: Headers): string {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const inOwnHeader = ["x-api-key", "api-key"].map((name) => headers.get(name)?.trim() || undefined);
  const shown = [bearer, ...inOwnHeader].filter((token) => token !== undefined);
  return shown.find(isOurs) ?? shown[0] ?? "";
}

/** Callers on this machine without a key. A page gets the same scopes as with a page session. */
const withoutKey: Readonly<Record<SenderKind, Caller>> = {
  program: { scopes: new Set(scopes) },
  "own page": { scopes: pageScopes, page: "own" },
  "other page": { scopes: new Set<Scope>(["feedback"]), page: "other" },
};

type Find = (id: string) => AccessKey | undefined;

/** Caches the store's keys and reads them again when the cache is stale; concurrent callers share one read. */
function keyring(production: Pick<TrafficStore, "keys">, now: () => number) {
  let known: ReadonlyMap<string, AccessKey> = new Map();
  let read = -Infinity;
  let asked: Promise<void> | undefined;
  let round = 0;
  async function load(): Promise<void> {
    const mine = round;
    const found = await production.keys();
    known = mapById(found);
    if (mine === round) read = now();
  }
  /** A clock that was set back must not keep a revoked key alive until it has caught up. */
  const stale = (): boolean => now() >= read + fresh || now() < read;
  return {
    async find(): Promise<Find> {
      while (stale()) {
        asked ??= load().finally(() => {
          asked = undefined;
        });
        await asked;
      }
      return (id) => known.get(id);
    },
    forget(): void {
      round++;
      read = -Infinity;
    },
  };
}

function ofToken(token: BrowserToken | undefined, find: Find, now: number): Caller | Refused {
  if (!token) return unauthorised("This token was not signed here, or with another secret.");
  if (token.expires <= now) return unauthorised("This token has expired. Load the page again.");
  const parent = token.key === undefined ? undefined : find(token.key);
  if (token.key !== undefined && (!parent || !isLive(parent, now))) {
    return unauthorised("The key that this token was issued with was revoked or has expired.");
  }
  return {
    ...(token.key === undefined ? {} : { key: token.key }),
    scopes: new Set<Scope>(["feedback"]),
    only: token.only,
  };
}

function ofSession(session: PageSession, find: Find, now: number): Caller | Refused {
  const key = find(session.key);
  if (session.expires <= now || !key || !isLive(key, now)) return unauthorised(sessionOver);
  const scopes = key.scopes.filter((scope) => pageScopes.has(scope));
  return { key: key.id, scopes: new Set(scopes), session, page: "own" };
}

/** @throws WhetstoneError `config.invalid` for an address that other machines can reach, if the store has no valid key. */
export async function requireKeys(
  production: Pick<TrafficStore, "keys">,
  host: string,
  now = Date.now(),
): Promise<void> {
  if (isLoopback(host)) return;
  if ((await production.keys()).some((key) => isLive(key, now))) return;
  throw new WhetstoneError("config.invalid", {
    where: "--host",
    got: `${host}, which other machines can reach, and no key`,
    expected: "at least one key that has not expired",
    fix: "Make one with: whetstone keys create app --scope chat --scope feedback",
  });
}

/** Headers of proxies: a request with one of them does not come from this machine. */
const forwarders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"] as const;

/** The client's address. @param proxies number of trusted proxies, each of which appends the address that it received the request from. */
function addressOf(peer: string | undefined, headers: Headers, proxies: number): string {
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  return networkOf(((proxies > 0 ? hops.at(-proxies) : undefined) ?? peer ?? "").slice(0, 64));
}

const unauthorised = (message: string): Refused => ({ status: 401, code: "invalid_api_key", message });
const noSuchKey = "This key is not known here.";
const sessionOver = "This session has ended, or its key was revoked or has expired. Log in again.";
const narrow: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one session, response or user, and this request is about more. Use a key without this restriction.",
};
const noKey = unauthorised("No key was sent. Send one as: authorization: Bearer wst_…");
const outOfScope = (scope: Scope, { scopes }: Caller): Refused => ({
  status: 403,
  code: "out_of_scope",
  message: `This key is for ${[...scopes].join(", ") || "nothing"}, expected ${scope}. Use a key that has the scope ${scope}.`,
});
const fromOutside = unauthorised(
  "This request came through a proxy, and without a key this server answers this machine alone. Send a key as: authorization: Bearer wst_…",
);

/** @param wait seconds. */
function limited(wait: number): Refused | undefined {
  if (wait <= 0) return undefined;
  const message = `Too many requests. Try again in ${Math.ceil(wait)} s.`;
  return { status: 429, code: "too_many_requests", message, retryAfter: wait };
}
const notForPages = (scope: Scope, { scopes }: Caller): Refused => ({
  status: 403,
  code: "out_of_scope",
  message: `A page sent this request and may use ${[...scopes].join(", ")}, expected ${scope}. Use a program, or a key that has the scope ${scope}.`,
});
