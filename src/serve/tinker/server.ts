/** Serves the local engine over the Tinker training API, for the official SDK and other clients. */

import { createHash, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { bound } from "../../http/bound.ts";
import { limitedServer } from "../../http/server.ts";
import { isLoopback, isOwnName } from "../requestOrigin.ts";
import { sampleBody, saveExternalRequest } from "./bodies.ts";
import { type Asked, isProtobuf, passReader, read, readAsked, readPrompt } from "./body.ts";
import type { Pending } from "./models.ts";
import { downloads, restRoutes } from "./rest.ts";
import { type Service, type ServiceOptions, service } from "./service.ts";

export interface TinkerServerOptions extends ServiceOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. Any address other than a loopback address needs a key. */
  readonly host?: string;
  /** Host names besides localhost that are accepted when there is no key. */
  readonly names?: readonly string[];
  /** The clients' X-API-Key. Must begin with `tml-`, as the SDK requires. Default: any such key. */
  readonly key?: string;
  /** Seconds that a poll for a result waits. Default 30. */
  readonly patience?: number;
  /** Called with one line for each request that fails unexpectedly. */
  readonly log?: Log;
  /** Client flags to set in addition to the API's defaults, such as `proto_compress_fwdbwd`. */
  readonly flags?: Readonly<Record<string, boolean | number>>;
}

export interface TinkerServer {
  readonly url: string;
  close(): Promise<void>;
}

const prefix = "tml-";

/** Starts the server. @throws WhetstoneError `config.invalid` for a key that the SDK cannot send, a public address without a key, or a port that is taken. */
export async function tinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { port = 0, host = "127.0.0.1", names = [], key, patience = 30, flags = {} } = options;
  const { log = () => {} } = options;
  if (key !== undefined && !key.startsWith(prefix)) {
    throw new WhetstoneError("config.invalid", {
      where: "the key",
      got: `a key without the prefix ${prefix}`,
      expected: `a key that begins with ${prefix}: the tinker SDK sends no other`,
      fix: `Put ${prefix} before it in WHETSTONE_KEY, or in the variable that --key-env names.`,
    });
  }
  if (key === undefined && !isLoopback(host)) {
    throw new WhetstoneError("config.invalid", {
      where: "--host",
      got: `the address ${host} without a key`,
      expected: "a key, since other machines can reach that address",
      fix: `Put a key that begins with ${prefix} into the environment variable WHETSTONE_KEY, or bind to 127.0.0.1.`,
    });
  }
  const api = service(options);
  const server = limitedServer(routes(api, { names, key, patience, flags, log }).fetch);
  const url = await bound(server, host, port).catch(async (e: unknown) => {
    await api.close();
    throw e;
  });
  const tidy = (): void => void api.store.tidy().catch(() => undefined); // retried at the next interval
  tidy();
  const timers = [setInterval(() => api.sweep(), 5000), setInterval(tidy, 600_000)];
  for (const timer of timers) timer.unref();
  return {
    url,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await api.close();
    },
  };
}

const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();

interface Door {
  readonly names: readonly string[];
  readonly key: string | undefined;
  readonly patience: number;
  readonly flags: Readonly<Record<string, boolean | number>>;
  readonly log: Log;
}

const adapters =
  "Adapters here sit on attention and MLP projections: train_unembed changes nothing. Models live in this process: save what should outlive it.";

/** Statuses of requests that a retry cannot fix. */
const refusals: ReadonlySet<number> = new Set([400, 404, 422]);

/**
 * Client flags besides the API's defaults: clients of a shared sampling session get numbers from the server, since the random
 * numbers that they would draw do not fit into JSON numbers; and one poll covers all samples of a session.
 */
const asked = { sample_join_sampling_session: true, sample_use_retrieve_futures: true } as const;

function routes(api: Service, { names, key, patience, flags, log }: Door): Hono {
  const app = new Hono().basePath("/api/v1");
  app.onError((e, c) => {
    if (e instanceof HTTPException) return c.json({ detail: e.message }, e.status);
    // the path as it was sent: a decoded path could inject log lines
    log(`${c.req.method} ${new URL(c.req.url).pathname}: ${messageOf(e)}`);
    return c.json({ detail: messageOf(e) }, 500);
  });
  app.notFound((c) =>
    c.json(
      {
        detail: `${c.req.method} ${c.req.path} is not served here. docs/tinker.md lists what is, and what is not.`,
      },
      404,
    ),
  );
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  const files = downloads();
  files.serve(app, api);
  app.use(async (c, next) => {
    const asked = new URL(c.req.url).host;
    if (key === undefined && !isOwnName(asked, names)) {
      throw new HTTPException(403, {
        message: `got the host name ${asked}, expected localhost: without a key, this server answers this machine alone. Start it with --allow-host, or with a key in WHETSTONE_KEY.`,
      });
    }
    // browsers send this header only after a CORS preflight, so no web page can reach a server on this machine
    const sent = c.req.header("x-api-key") ?? "";
    if (!sent.startsWith(prefix) || (key !== undefined && !timingSafeEqual(digest(sent), digest(key)))) {
      const expected = key === undefined ? `any that begins with ${prefix}` : "the server's";
      throw new HTTPException(401, {
        message: `the key in X-API-Key is wrong: expected ${expected}. Set TINKER_API_KEY.`,
      });
    }
    await next();
  });

  app.post("/client/config", (c) => c.json({ ...wire.clientConfig.parse({}), ...asked, ...flags }));
  app.post("/client/dynamic_config", (c) => c.json({ refresh_interval_sec: 300 }));
  app.post("/telemetry", (c) => c.json({ status: "accepted" }));
  app.get("/get_server_capabilities", (c) =>
    c.json({
      supported_models: [...api.bases.values()].map(({ name, contextTokens }) => ({
        model_name: name,
        max_context_length: contextTokens,
        trainable: true,
        sampleable: true,
      })),
    }),
  );

  trainingRoutes(app, api);
  samplingRoutes(app, api);
  resultRoutes(app, api, patience);
  restRoutes(app, api, files);
  return app;
}

/** Sessions, models, and the numbered operations on them. */
function trainingRoutes(app: Hono, api: Service): void {
  app.post("/create_session", async (c) => {
    await read(c, wire.createSessionRequest);
    const session_id = api.createSession(c.req.header("x-idempotency-key"));
    return c.json({ type: "create_session", session_id, info_message: adapters });
  });
  app.post("/session_heartbeat", async (c) => {
    api.heartbeat((await read(c, wire.sessionHeartbeatRequest)).session_id);
    return c.json({ type: "session_heartbeat" });
  });
  app.post("/sessions/:id/finish", async (c) => {
    api.finish(c.req.param("id"));
    return c.body(null, 204);
  });

  app.post("/create_model", async (c) => c.json(api.createModel(await read(c, wire.createModelRequest))));
  app.post("/get_info", async (c) => c.json(api.info((await read(c, wire.modelRequest)).model_id)));
  app.post("/unload_model", async (c) => c.json(api.unload((await read(c, wire.modelRequest)).model_id)));
  /** Handles a numbered request. A refused one still uses its number, since later operations would otherwise wait for ever. */
  const numbered = <T>(
    path: string,
    asking: (c: Context) => Promise<Asked<T>>,
    run: (asked: T, digest: string) => Pending | Promise<Pending>,
  ) =>
    app.post(path, async (c) => {
      const { asked, turn, digest } = await asking(c);
      try {
        if (asked instanceof HTTPException) throw asked;
        return c.json(await run(asked, digest));
      } catch (e) {
        if (!turn?.seq_id || !(e instanceof HTTPException) || !refusals.has(e.status)) throw e;
        return c.json(api.refuse(turn, digest, e.message, path === "/forward_backward"));
      }
    });
  const readPass = passReader();
  numbered("/forward_backward", (c) => readPass(c, "forward_backward"), api.pass);
  numbered("/forward", (c) => readPass(c, "forward"), api.pass);
  numbered("/optim_step", (c) => readAsked(c, wire.optimStepRequest), api.step);
  numbered("/save_weights", (c) => readAsked(c, wire.saveWeightsRequest), api.save);
  numbered("/load_weights", (c) => readAsked(c, wire.loadWeightsRequest), api.load);
  numbered("/save_weights_for_sampler", (c) => readAsked(c, wire.saveForSamplerRequest), api.saveForSampler);
  numbered("/save_weights_external", (c) => readAsked(c, saveExternalRequest), api.saveExternal);
}

function samplingRoutes(app: Hono, api: Service): void {
  app.post("/create_sampling_session", async (c) => {
    const id = await api.createSampler(await read(c, wire.createSamplingSessionRequest));
    return c.json({ type: "create_sampling_session", sampling_session_id: id });
  });
  app.post("/join_sampling_session", async (c) => {
    const { sampling_session_id } = await read(c, wire.samplingSessionResponse);
    return c.json({ type: "join_sampling_session", client_counter: api.join(sampling_session_id) });
  });
  app.get("/samplers/:id", (c) => c.json(api.sampler(c.req.param("id"))));
  app.post("/asample", async (c) => c.json(api.sample(await readPrompt(c, sampleBody))));
}

/** @param patience seconds that a poll waits. */
function resultRoutes(app: Hono, api: Service, patience: number): void {
  app.post("/retrieve_future", async (c) => {
    const { request_id } = await read(c, wire.retrieveFutureRequest);
    const polled = await api.futures.poll(request_id, 1000 * patience);
    switch (polled.kind) {
      case "json":
        return c.json(polled.json);
      case "protobuf":
        if (!isProtobuf(c.req.header("accept"))) return c.json(polled.json(polled.bytes));
        return c.body(polled.bytes, 200, { "content-type": wire.protobufType });
      case "failed":
        return c.json(polled.fault);
      case "pending":
        return c.json({ type: "try_again", request_id, queue_state: "active" }, 408);
      case "gone":
        throw new HTTPException(410, {
          message: `the result of ${request_id} was dropped to make room for newer ones. Send the request again.`,
        });
      case "unknown":
        throw new HTTPException(404, {
          message: `no request ${request_id} here. If the server was started again since, it was lost: load your last checkpoint.`,
        });
    }
  });

  app.post("/retrieve_futures", async (c) => {
    const { target, prev_cursor, timeout } = await read(c, wire.retrieveFuturesRequest);
    const { sampling_session_id, cloned_sampler_id } = target;
    const seconds = Math.min(timeout ?? patience, patience);
    return c.json(await api.ended(sampling_session_id, cloned_sampler_id, prev_cursor, 1000 * seconds));
  });
}
