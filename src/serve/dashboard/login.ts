/** Login and logout of the pages: the key is sent once, then a session cookie replaces it. */
import { Hono } from "hono";
import { z } from "zod";
import type { Gate, Gated } from "../auth.ts";
import { checked } from "../checked.ts";
import { endSession, keepSession } from "../pageSession.ts";
import { isRefused, type Refused, refusal } from "../refusal.ts";
import { requestOrigin, senderKind } from "../requestOrigin.ts";
import type { WhoBody } from "./types.ts";

const loginBody = z.strictObject({ key: z.string().max(500) });

/** `GET /api/session` returns the caller, `POST` logs in, `DELETE` logs out. */
export function loginRoutes(gate: Gate): Hono<Gated> {
  return new Hono<Gated>()
    .get("/api/session", gate.allow("read"), (c) => {
      const { scopes, session } = c.var.caller;
      const body: WhoBody = { scopes: [...scopes], ...(session ? { expires: session.expires } : {}) };
      return c.json(body, 200, { "cache-control": "no-store" });
    })
    .post("/api/session", async (c) => {
      // prevents login CSRF: another site's page could log a person in as another user
      if (senderKind(requestOrigin(c.req.raw)) !== "own page") return refusal(notOurs);
      const body = await checked(c.req.raw, loginBody);
      if (isRefused(body)) return refusal(body);
      const session = await gate.admit(c, body.key.trim());
      if (isRefused(session)) return refusal(session);
      keepSession(c, session, gate.now(), gate.signing);
      return c.json({ expires: session.expires }, 201, { "cache-control": "no-store" });
    })
    .delete("/api/session", (c) => {
      if (senderKind(requestOrigin(c.req.raw)) !== "own page") return refusal(notOurs);
      endSession(c);
      return c.body(null, 204);
    });
}

const notOurs: Refused = {
  status: 403,
  code: "origin_refused",
  message: "Only this server's login page may log in and out. Programs send: authorization: Bearer wst_…",
};
