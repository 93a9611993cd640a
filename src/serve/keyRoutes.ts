/** HTTP routes for keys: for an application server that creates keys for its clients, and browser tokens for the pages it renders. */
import { Hono } from "hono";
import { z } from "zod";
import { periods } from "../core/budget.ts";
import type { AccessKey } from "../core/served.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import type { Gate, Gated } from "./auth.ts";
import { checked } from "./checked.ts";
import { mintKey, type NewKey, type Only, scopes, signToken } from "./keys.ts";
import { takes } from "./query.ts";
import { isRefused, type Refused, refusal } from "./refusal.ts";

const id = z.string().min(1).max(256);
const only = z.strictObject({
  session: id.optional(),
  response: id.optional(),
  user: id.optional(),
});
const keyBody = z.strictObject({
  label: z.string().min(1).max(200),
  scopes: z.array(z.enum(scopes)).min(1),
  only: only.optional(),
  budget: z.strictObject({ usd: z.number().positive().max(1e9), per: z.enum(periods) }).optional(),
  /** Seconds from now. */
  expiresIn: z
    .number()
    .positive()
    .max(10 * 365 * 86_400)
    .optional(),
});
const tokenBody = z.strictObject({
  session: id.optional(),
  response: id.optional(),
  user: id.optional(),
  /** Seconds from now, at most one day. Default one hour. */
  expiresIn: z.number().min(1).max(86_400).optional(),
});

/** A key without the digest of its secret. */
export type KeyBody = Omit<AccessKey, "hash">;
/** Response to the creation of a key. `secret` is never shown again. */
export type NewKeyBody = KeyBody & { readonly secret: string };
/** Response of `POST /v1/feedback/tokens`: a browser token. */
export interface TokenBody {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

type Keys = Pick<TrafficStore, "keys" | "putKey">;

/** `POST`, `GET` and `DELETE /v1/keys`, and `POST /v1/feedback/tokens`. */
export function keyRoutes(production: Keys, gate: Gate): Hono<Gated> {
  return new Hono<Gated>()
    .use("/v1/keys/*", gate.allow("admin"), async (c, next) => {
      // otherwise an attacker with brief control of a page could create a permanent key
      return c.var.caller.page ? refusal(pageAdmin) : next();
    })
    .post("/v1/keys", async (c) => {
      const body = await checked(c.req.raw, keyBody);
      if (isRefused(body)) return refusal(body);
      const { secret, key } = mintKey(newKey(body, gate.now()), gate.now());
      await production.putKey(key);
      gate.changed();
      const made: NewKeyBody = { ...seen(key), secret };
      return c.json(made, 201, { "cache-control": "no-store" });
    })
    .get("/v1/keys", takes(), async (c) => {
      return c.json({ keys: (await production.keys()).map(seen) });
    })
    .delete("/v1/keys/:id", async (c) => {
      const found = (await production.keys()).find((key) => key.id === c.req.param("id"));
      if (!found) return refusal(noSuchKey);
      const revoked = { ...found, revoked: found.revoked ?? gate.now() };
      await production.putKey(revoked);
      gate.changed();
      return c.json(seen(revoked));
    })
    .post("/v1/feedback/tokens", gate.allow("feedback"), async (c) => {
      const { caller } = c.var;
      if (caller.page) return refusal(pageAdmin);
      const body = await checked(c.req.raw, tokenBody);
      if (isRefused(body)) return refusal(body);
      const { expiresIn = 3600, session, response, user } = body;
      if (session === undefined && response === undefined) return refusal(unnarrowed);
      const expires = gate.now() + 1000 * expiresIn;
      const about = onlyOf({ session, response, user });
      const key = caller.key === undefined ? {} : { key: caller.key };
      const made: TokenBody = { token: signToken({ ...key, expires, only: about }, gate.signing), expires };
      return c.json(made, 201, { "cache-control": "no-store" });
    });
}

function newKey({ label, scopes, only, budget, expiresIn }: z.output<typeof keyBody>, now: number): NewKey {
  return {
    label,
    scopes,
    ...(only === undefined ? {} : { only: onlyOf(only) }),
    ...(budget === undefined ? {} : { budget }),
    ...(expiresIn === undefined ? {} : { expires: now + 1000 * expiresIn }),
  };
}

const onlyOf = ({ session, response, user }: z.output<typeof only>): Only => ({
  ...(session === undefined ? {} : { session }),
  ...(response === undefined ? {} : { response }),
  ...(user === undefined ? {} : { user }),
});

const seen = ({ hash: _, ...key }: AccessKey): KeyBody => key;

const noSuchKey: Refused = {
  status: 404,
  code: "no_such_key",
  message: "There is no key with this id. GET /v1/keys lists all keys.",
};
const pageAdmin: Refused = {
  status: 403,
  code: "page_session",
  message: "Pages may not create or list keys. Use: whetstone keys, or send the key itself.",
};
const unnarrowed: Refused = {
  status: 400,
  code: "invalid_request",
  message: "Expected the session or the response that the token is for.",
  fields: [{ path: "session", message: "expected this or response" }],
};
