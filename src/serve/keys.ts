/** Access keys: long random keys, stored as a digest, and short-lived signed tokens for browsers. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Budget } from "../core/budget.ts";
import type { AccessKey, Scope } from "../core/served.ts";
import { signClaims, verifyClaims } from "./signedToken.ts";

export const scopes = ["chat", "feedback", "traces", "read", "admin"] as const satisfies readonly Scope[];

/** The session, response or user that a key is narrowed to. */
export type Only = NonNullable<AccessKey["only"]>;

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A key as its owner sees it once: `wst_<id>_<256 random bits>`. The id is not secret; it selects the digest to compare with. */
const shape = /^wst_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** Whether a bearer token is for this server, rather than for an upstream provider. */
export const isOurs = (token: string): boolean => token.startsWith("wst_") || token.startsWith("wsb_");

/** Whether a text holds a token of this server anywhere. */
export const holdsOurs = (text: string): boolean => /ws[tb]_[A-Za-z0-9_-]{16}/.test(text);

/** A new key and its secret. */
export interface Minted {
  /** Shown once and never stored. */
  readonly secret: string;
  readonly key: AccessKey;
}

/** What a new key is made from. */
export interface NewKey {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly only?: Only;
  readonly budget?: Budget;
  /** Milliseconds since 1970. */
  readonly expires?: number;
}

/** Creates a key; the caller stores `key`. @param now milliseconds since 1970. */
export function mintKey({ label, scopes, only, budget, expires }: NewKey, now: number): Minted {
  const id = randomBytes(8).toString("hex");
  const secret = `wst_${id}_${randomBytes(32).toString("base64url")}`;
  const key: AccessKey = {
    id,
    label,
    hash: sha256(secret).toString("hex"),
    scopes,
    ...(only === undefined ? {} : { only }),
    ...(budget === undefined ? {} : { budget }),
    created: now,
    ...(expires === undefined ? {} : { expires }),
  };
  return { secret, key };
}

/** The key that a token belongs to, even if it is revoked or expired. Takes the same time for a wrong secret as for a right one. */
export function matchKey(token: string, find: (id: string) => AccessKey | undefined): AccessKey | undefined {
  const [, id = ""] = shape.exec(token) ?? [];
  const key = find(id);
  // always compared, so that an unknown id takes the same time
  const equal = timingSafeEqual(sha256(token), Buffer.from(key?.hash ?? nobody, "hex"));
  return equal ? key : undefined;
}

const nobody = "00".repeat(32);

export const isLive = (key: AccessKey, now: number): boolean =>
  key.revoked === undefined && (key.expires === undefined || key.expires > now);

/** Claims of a signed token. The names are short because every request carries them. */
const claims = z.strictObject({
  /** Id of the key that requested it; revoking that key revokes the token. Absent: requested on this machine without a key. */
  k: z.string().optional(),
  /** Expiry, milliseconds since 1970. */
  x: z.number(),
  s: z.string().optional(),
  r: z.string().optional(),
  u: z.string().optional(),
});

export interface BrowserToken {
  readonly key?: string;
  readonly expires: number;
  readonly only: Only;
}

const purpose = "browser token";

/** `wsb_<claims>.<HMAC-SHA256>`, in base64url. Nothing is stored, since a page may be rendered a million times. */
export function signToken({ key, expires, only }: BrowserToken, signing: Uint8Array): string {
  const said: z.infer<typeof claims> = {
    ...(key === undefined ? {} : { k: key }),
    x: expires,
    ...(only.session === undefined ? {} : { s: only.session }),
    ...(only.response === undefined ? {} : { r: only.response }),
    ...(only.user === undefined ? {} : { u: only.user }),
  };
  return `wsb_${signClaims(purpose, said, signing)}`;
}

/** @returns nothing unless the signature is valid. The caller checks the expiry. */
export function readToken(token: string, signing: Uint8Array): BrowserToken | undefined {
  const said = token.startsWith("wsb_")
    ? verifyClaims(purpose, token.slice("wsb_".length), signing)
    : undefined;
  if (said === undefined) return undefined;
  const { k, x, s, r, u } = claims.parse(said);
  return {
    ...(k === undefined ? {} : { key: k }),
    expires: x,
    only: {
      ...(s === undefined ? {} : { session: s }),
      ...(r === undefined ? {} : { response: r }),
      ...(u === undefined ? {} : { user: u }),
    },
  };
}
