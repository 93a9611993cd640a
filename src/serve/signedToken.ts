/** Signed claims, for state that a browser keeps and the server does not store. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Json } from "../core/json.ts";

/** Names are short because every request carries them. */
export type Claims = Readonly<Record<string, string | number | undefined>>;

const mac = (purpose: string, payload: string, signing: Uint8Array): Buffer =>
  createHmac("sha256", signing).update(`whetstone ${purpose} ${payload}`).digest();

/** `<claims>.<HMAC-SHA256>`, in base64url. @param purpose claims sealed for one purpose are invalid for another. */
export function signClaims(purpose: string, claims: Claims, signing: Uint8Array): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${payload}.${mac(purpose, payload, signing).toString("base64url")}`;
}

/** @returns the claims; nothing if they were not sealed with that secret for that purpose. */
export function verifyClaims(purpose: string, sealed: string, signing: Uint8Array): Json | undefined {
  const [, payload, signature] = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/.exec(sealed) ?? [];
  if (payload === undefined || signature === undefined) return undefined;
  if (!timingSafeEqual(mac(purpose, payload, signing), Buffer.from(signature, "base64url"))) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
}
