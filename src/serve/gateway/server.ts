/** The production server on one address: gateway, feedback inbox, spans, versions, keys, health. */

import { type Env, Hono } from "hono";
import type { Log } from "../../core/log.ts";
import { bound } from "../../http/bound.ts";
import { limitedServer } from "../../http/server.ts";
import type { ReleaseControllerOptions } from "../../release/controller.ts";
import type { Recorder, RecorderState, TrafficStore } from "../../store/trafficStore.ts";
import { type Gate, type Gated, type GateOptions, gate, requireKeys } from "../auth.ts";
import { failed } from "../failed.ts";
import { inbox } from "../inbox.ts";
import { keyRoutes } from "../keyRoutes.ts";
import { metrics } from "../metrics.ts";
import { traces } from "../otlp.ts";
import { type Refused, refusal } from "../refusal.ts";
import { isLoopback } from "../requestOrigin.ts";
import { versionRoutes } from "../versions.ts";
import { gateway } from "./gateway.ts";
import { belowBase } from "./passThrough.ts";
import type { GatewayState } from "./runningCalls.ts";
import { sessionTable } from "./sessions.ts";
import { spending } from "./spending.ts";
import type { LiveVersions } from "./versions.ts";

/** Settings of {@link serveProduction}. */
export interface ProductionServerOptions {
  readonly production: TrafficStore;
  readonly recorder: Recorder;
  readonly versions: LiveVersions;
  /** 32 bytes that browser tokens are signed with. */
  readonly signing: Uint8Array;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1, which needs no key. */
  readonly host?: string;
  readonly channels?: readonly string[];
  /** As for {@link gateway}. */
  readonly passThrough?: boolean;
  readonly gate?: Pick<GateOptions, "origins" | "hosts" | "proxies" | "rates">;
  /** How versions are judged. */
  readonly release?: Omit<ReleaseControllerOptions, "production">;
  /** Milliseconds of inactivity after which a session is forgotten; at the start, stored responses of the same period are read. Default one hour. */
  readonly silence?: number;
  /** Milliseconds that running calls get to finish when the server closes. Default 30 seconds. */
  readonly grace?: number;
  readonly log?: Log;
  /** App for all other paths, such as the dashboard; behind the same gate. */
  readonly pages?: (gate: Gate) => Hono<Gated>;
}

/** A running production server. */
export interface ProductionServer {
  /** Without a trailing slash. */
  readonly url: string;
  /** Every route of the server, such as `GET /v1/sessions/:id`. */
  readonly routes: readonly string[];
  state(): GatewayState;
  /** Refuses new calls, waits for running ones, and resolves once everything accepted is on disk or counted as lost. Store and versions stay open. */
  close(): Promise<void>;
}

/**
 * Starts the production server.
 * @throws WhetstoneError `config.invalid` for an address that other machines can reach without a key in the store, or a port that is taken.
 */
export async function serveProduction(options: ProductionServerOptions): Promise<ProductionServer> {
  const { production, versions, signing, host = "127.0.0.1", port = 0, log = () => {} } = options;
  const measured = metrics();
  const recorder = measured.measuring(options.recorder);
  await requireKeys(production, host);
  // calls are passed on even if the store fails: the recorder reports the cause
  await production.ready().catch(() => undefined);
  const door = gate({ production, signing, open: isLoopback(host), ...options.gate });
  const silence = options.silence ?? 3_600_000;
  const sessions = sessionTable({ silence });
  for await (const response of production.responses({ from: Date.now() - silence }))
    await sessions.remember(response);
  const passing = gateway({
    production,
    recorder,
    versions,
    gate: door,
    sessions,
    spending: spending(production, Date.now),
    log,
    ...(options.channels ? { channels: options.channels } : {}),
    ...(options.passThrough ? { passThrough: true } : {}),
  });
  const tried = async (): Promise<void> => {
    await passing.recorded();
    await recorder.tried();
  };
  const app = new Hono<Gated>()
    .use(door.enter)
    .get("/healthz", (c) => {
      const written = recorder.state();
      const { failing, ...live } = versions.state;
      const status = written.failing || failing !== undefined ? "degraded" : "ok";
      return c.json({
        status,
        gateway: passing.state(),
        recorder: written,
        ...live,
        sessions: sessions.size,
      });
    })
    .get("/readyz", (c) => {
      const why = unready(passing.state(), recorder.state());
      return why === undefined ? c.json({ ready: true }) : c.json({ ready: false, why }, 503);
    })
    .get("/metrics", door.allow("read"), async (c) => {
      const text = await measured.text({
        gateway: passing.state,
        recorder,
        sessions: () => sessions.size,
        live: () => versions.state.versions,
      });
      return c.body(text, 200, { "content-type": measured.contentType });
    })
    .route("/", passing.app)
    .route("/", inbox({ production, recorder: { ...recorder, tried }, gate: door }))
    .route("/", keyRoutes(production, door))
    .route("/", traces({ production, gate: door, sessions }))
    .route(
      "/",
      versionRoutes({ production, gate: door, ...(options.release ? { release: options.release } : {}) }),
    )
    .route("/", passing.others)
    // a mistyped endpoint gets a 404 instead of a page
    .all("/v1/*", (c) => c.notFound())
    .all("/session/*", (c) => c.notFound())
    .all("/user/*", (c) => c.notFound())
    .route("/", options.pages?.(door) ?? new Hono<Gated>())
    .notFound((c) => {
      const more = !options.passThrough && belowBase(c.req.url) !== undefined ? ` ${passable}` : "";
      return refusal({ ...nowhere, message: `${nowhere.message} Not ${c.req.method} ${c.req.path}.${more}` });
    })
    .onError(failed(log));
  const server = limitedServer((request, env: Env) => app.fetch(request, env));
  const url = await bound(server, host, port);
  // "ALL" entries are middleware
  const routes = app.routes.flatMap(({ method, path }) => (method === "ALL" ? [] : [`${method} ${path}`]));
  return {
    url,
    routes: [...new Set(routes)],
    state: passing.state,
    async close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      await atMost(options.grace ?? 30_000, passing.drain());
      server.closeIdleConnections();
      // responses that are still being written
      await atMost(200, ended);
      server.closeAllConnections();
      await atMost(1000, ended);
      // calls that were just aborted still write their record
      await atMost(1000, passing.drain());
      await recorder.flush();
    },
  };
}

/** Why no more calls should be sent here, if so. A server whose versions cannot be read goes on with those it has. */
function unready({ draining }: GatewayState, { failing }: RecorderState): string | undefined {
  if (draining) return "the server is closing";
  if (failing === "full") return "the store's disk is full";
  return failing === undefined ? undefined : "the store cannot be written";
}

/** Waits at most `ms`. The timer keeps the process alive, so that it does not exit before the rest is on disk. */
async function atMost(ms: number, what: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([what, late]);
  clearTimeout(timer);
}

/** For who calls what an upstream may have, such as files or images. */
const passable =
  "A server that is started with whetstone serve --pass-through passes every other path below /v1 to the upstream.";

const nowhere: Refused = {
  status: 404,
  code: "unknown_url",
  message:
    "The endpoints are /v1/chat/completions, /v1/responses, /v1/messages, /v1/embeddings, /v1/models, /v1/feedback, /v1/traces, /v1/sessions, /healthz, /readyz and /metrics; the first five also below /session/<name>.",
};
