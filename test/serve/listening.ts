/** An inbox that listens, over the store's contract in memory. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Hono } from "hono";
import { limitedServer } from "../../src/http/server.ts";
import { type Gated, type GateOptions, gate } from "../../src/serve/auth.ts";
import { inbox } from "../../src/serve/inbox.ts";
import { keyRoutes } from "../../src/serve/keyRoutes.ts";
import { memory, served } from "./memory.ts";

export async function listening(options: Partial<GateOptions> = {}) {
  const store = memory([served({ id: "r1" }), served({ id: "r2", session: "s2", trajectory: "s2/0" })]);
  const { production } = store;
  const door = gate({ production, open: true, signing: randomBytes(32), ...options });
  const app = new Hono<Gated>()
    .use(door.enter)
    .route("/", inbox({ ...store, gate: door }))
    .route("/", keyRoutes(production, door));
  const asked: Request[] = [];
  /** Middleware before the app: if it returns an answer, that is sent. */
  const before: { answer?: (request: Request) => Response | undefined | Promise<Response | undefined> } = {};
  const server = limitedServer(async (request, env) => {
    asked.push(request);
    return (await before.answer?.(request)) ?? app.fetch(request, env);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return {
    ...store,
    gate: door,
    asked,
    before,
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
