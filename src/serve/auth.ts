/** Who asks, and what they may do: keys, browsers' tokens, sessions of our pages, other sites' pages, rates. */
import type { ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import { WhetstoneError } from "../core/errors.ts";
import type { AccessKey, Scope } from "../core/served.ts";
import { networkOf } from "../http/server.ts";
import type { Production } from "../store/production.ts";
import { type Asker, askerOf, isLook, isLoopback, marksOf, otherPage, wrongName } from "./asker.ts";
import { type BrowserToken, isLive, isOurs, matchKey, type Only, readToken, scopes } from "./keys.ts";
import { type Rate, tokenBuckets } from "./limits.ts";
import { isLinkFollowed, otherPages } from "./otherPages.ts";
import { type PageSession, pageScopes, sessionLasts, sessionOf } from "./pageSession.ts";
import { type Refused, refusal } from "./refusal.ts";

/** Somebody who may do something. */
export interface Caller {
  /** Of the key, or of the key that a token was asked for with. Absent: on this machine, without one. */
  readonly key?: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly only?: Only;
  /** Known by the session of a page of ours. */
  readonly session?: PageSession;
  /** Asked by a page, without a key of its own: one of ours, or one of another site. */
  readonly page?: "own" | "other";
}

/** What a Hono app behind the gate knows of a request. */
export interface Gated {
  Variables: { caller: Caller };
  /** As @hono/node-server hands it on; absent in tests that listen nowhere. */
  Bindings: {
    readonly incoming?: {
      readonly socket: { readonly remoteAddress?: string | undefined; destroy?(): void };
    };
    readonly outgoing?: ServerResponse;
  };
}

export interface GateOptions {
  readonly production: Pick<Production, "keys">;
  /** Whether callers on this machine need no key. For servers that bind to the loopback interface alone. */
  readonly open: boolean;
  /** Sites whose pages may give feedback, e.g. `https://app.example.com`; `*` for all. Default none. */
  readonly origins?: readonly string[];
  /** Names beside localhost under which an open server is asked for. */
  readonly hosts?: readonly string[];
  /** Proxies of our own in front, whose word on where a request comes from is taken. Default 0. */
  readonly proxies?: number;
  /** 32 bytes that browsers' tokens are signed with. */
  readonly signing: Uint8Array;
  readonly rates?: Partial<Rates>;
  readonly now?: () => number;
}

export interface Rates {
  /** By key. */
  readonly key: Rate;
  /** By browser's token. */
  readonly token: Rate;
  /** By address: requests with browsers' tokens. */
  readonly address: Rate;
  /** By address: keys that are none. */
  readonly failed: Rate;
}

export const defaultRates: Rates = {
  key: { perSecond: 2000, burst: 4000 },
  token: { perSecond: 2, burst: 30 },
  address: { perSecond: 20, burst: 200 },
  failed: { perSecond: 1, burst: 20 },
};

export interface Gate {
  /** For every path: refuses other sites' pages, and names that lead here by a trick of DNS. */
  readonly enter: MiddlewareHandler<Gated>;
  /**
   * For a path that asks something of the caller; sets `caller`.
   * @param narrowed whether keys that are narrowed open it: it looks at what they are narrowed to. Default: they do not.
   */
  allow(scope: Scope, narrowed?: "narrowed too"): MiddlewareHandler<Gated>;
  /** A session for our own pages, of a key that is shown once. Wrong ones count against the address that they come from. */
  admit(c: Context<Gated>, secret: string): Promise<PageSession | Refused>;
  readonly signing: Uint8Array;
  now(): number;
  /** Keys were added or revoked here: they count from the next request on. Elsewhere: within two seconds. */
  changed(): void;
}

/** Milliseconds for which keys are remembered. */
const fresh = 2000;

/** @throws WhetstoneError `config.invalid` for an origin that no browser says. */
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

  /** The caller of a token, or why it opens nothing. */
  async function identified(token: string): Promise<Caller | Refused> {
    const find = await keys.find();
    if (token.startsWith("wsb_")) return ofToken(readToken(token, signing), find, now());
    const key = matchKey(token, find);
    if (!key) return unauthorised(noSuchKey);
    if (!isLive(key, now())) {
      return unauthorised(key.revoked === undefined ? "This key has expired." : "This key was revoked.");
    }
    return { key: key.id, scopes: new Set(key.scopes), ...(key.only ? { only: key.only } : {}) };
  }

  /** That it is nobody's, or that there were too many such. */
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
      const marks = marksOf(c.req.raw);
      const strange = open ? wrongName(marks, hosts) : undefined;
      if (strange) return refusal(strange);
      const answer = async (): Promise<void> => {
        await next();
        c.res.headers.set("x-content-type-options", "nosniff");
      };
      if (askerOf(marks) !== "other page") return answer();
      // who follows a link sees a page of ours, and the other one does not
      const refused = isLinkFollowed(c.req.raw) ? undefined : others.refusedAt(c.req, marks);
      if (refused) return refusal(refused);
      return others.crossOrigin(c, answer);
    },
    allow: (scope, narrowed) => async (c, next) => {
      const { headers } = c.req.raw;
      const marks = marksOf(c.req.raw);
      const asker = askerOf(marks);
      const foreign = asker === "other page" ? others.refusedAt(c.req, marks) : undefined;
      if (foreign) return refusal(foreign);
      const token = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
      const forwarded = forwarders.some((name) => headers.has(name));
      if (open && !forwarded && !isOurs(token)) {
        const caller = withoutKey[asker];
        if (!caller.scopes.has(scope)) return refusal(notForPages(scope, caller));
        c.set("caller", caller);
        return next();
      }
      const session = token === "" ? sessionOf(c, signing) : undefined;
      // a cookie comes along with what other sites' pages ask, too; what changes something says where it comes from
      const own = asker === "own page" || (asker === "program" && isLook(marks.method));
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

/** On this machine, without a key. Pages may do what they may with a key that was shown to them. */
const withoutKey: Readonly<Record<Asker, Caller>> = {
  program: { scopes: new Set(scopes) },
  "own page": { scopes: pageScopes, page: "own" },
  "other page": { scopes: new Set<Scope>(["feedback"]), page: "other" },
};

type Find = (id: string) => AccessKey | undefined;

/** The store's keys, asked for again once they are not fresh; by all who wait at once together. */
function keyring(production: Pick<Production, "keys">, now: () => number) {
  let known: ReadonlyMap<string, AccessKey> = new Map();
  let read = -Infinity;
  let asked: Promise<void> | undefined;
  let round = 0;
  async function load(): Promise<void> {
    const mine = round;
    const found = await production.keys();
    known = new Map(found.map((key) => [key.id, key]));
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
    return unauthorised("The key that this token was asked for with is no more.");
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

/** @throws WhetstoneError `config.invalid` for an address that others reach, while there is no key that anybody could show. */
export async function requireKeys(
  production: Pick<Production, "keys">,
  host: string,
  now = Date.now(),
): Promise<void> {
  if (isLoopback(host)) return;
  if ((await production.keys()).some((key) => isLive(key, now))) return;
  throw new WhetstoneError("config.invalid", {
    where: "--host",
    got: `${host}, which others can reach, and no key`,
    expected: "at least one key that has not expired",
    mend: "Make one with: whetstone keys create app --scope chat --scope feedback",
  });
}

/** Headers of proxies: what comes with one does not come from this machine. */
const forwarders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"] as const;

/** Whom an address stands for. @param proxies of our own, each of which adds the address that it was asked from. */
function addressOf(peer: string | undefined, headers: Headers, proxies: number): string {
  const hops = (headers.get("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  return networkOf(((proxies > 0 ? hops.at(-proxies) : undefined) ?? peer ?? "").slice(0, 64));
}

const unauthorised = (message: string): Refused => ({ status: 401, code: "invalid_api_key", message });
const noSuchKey = "This key is not known here.";
const sessionOver = "This session is over, or the key that it began with is no more. Log in again.";
const narrow: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one session, response or user, and this is about more. Use one that is not narrowed.",
};
const noKey = unauthorised("No key was sent. Send one as: authorization: Bearer wst_…");
const outOfScope = (scope: Scope, { scopes }: Caller): Refused => ({
  status: 403,
  code: "out_of_scope",
  message: `This key is for ${[...scopes].join(", ") || "nothing"}, expected ${scope}. Use one that has the scope ${scope}.`,
});
const fromOutside = unauthorised(
  "This came by way of a proxy, and without a key only this machine is answered. Send one as: authorization: Bearer wst_…",
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
  message: `A page asks, which may do ${[...scopes].join(", ")}, and this is ${scope}. Use a program, or a key that has the scope ${scope}.`,
});
