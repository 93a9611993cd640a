/** The local engine behind the Tinker training API, for the official SDK and other clients of it. */
import { createHash, timingSafeEqual } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { readPass } from "../../engine/tinker/protobuf.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { bound } from "../bound.ts";
import { limitedServer } from "../limits.ts";
import { kinds } from "./checkpoints.ts";
import { isFault } from "./fault.ts";
import { digestOf, type Service, type ServiceOptions, service } from "./service.ts";

export interface TinkerServerOptions extends ServiceOptions {
  /** Default 0: any that is free. */
  readonly port?: number;
  /** Default 127.0.0.1. Anything but this machine's own address needs a key. */
  readonly host?: string;
  /** What clients send as X-API-Key. Begins with `tml-`, as the SDK wants it. Default: any such key. */
  readonly key?: string;
  /** Seconds that a question for a result waits. Default 30. */
  readonly patience?: number;
}

export interface TinkerServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Bytes of one body, packed and unpacked. */
const mostBytes = 64 * 2 ** 20;
const ownAddresses = new Set(["127.0.0.1", "::1", "localhost"]);
const prefix = "tml-";

/** @throws WhetstoneError `config.invalid` for a key that no client could send, an open address without one, or a port that is taken. */
export async function tinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { port = 0, host = "127.0.0.1", key, patience = 30 } = options;
  if (key !== undefined && !key.startsWith(prefix)) {
    throw new WhetstoneError("config.invalid", {
      where: "the key",
      got: "one that begins otherwise",
      expected: `one that begins with ${prefix}: the tinker SDK sends no other`,
      mend: `Put ${prefix} before it.`,
    });
  }
  if (key === undefined && !ownAddresses.has(host)) {
    throw new WhetstoneError("config.invalid", {
      where: "--host",
      got: `the address ${host} without a key`,
      expected: "a key, since others can reach that address",
      mend: `Put one that begins with ${prefix} into the environment variable WHETSTONE_KEY, or bind to 127.0.0.1.`,
    });
  }
  const api = service(options);
  const server = limitedServer(routes(api, { key, patience }).fetch);
  const sweeping = setInterval(() => void api.sweep().catch(() => undefined), 5000);
  sweeping.unref();
  const url = await bound(server, host, port).catch(async (e: unknown) => {
    clearInterval(sweeping);
    await api.close();
    throw e;
  });
  return {
    url,
    async close() {
      clearInterval(sweeping);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await api.close();
    },
  };
}

const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();

async function bytesOf(c: Context): Promise<Uint8Array> {
  const stated = Number(c.req.header("content-length") ?? 0);
  if (stated > mostBytes) throw tooLarge();
  const body = new Uint8Array(await c.req.arrayBuffer());
  if (body.length > mostBytes) throw tooLarge();
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding === "identity") return body;
  if (encoding !== "zstd") {
    throw new HTTPException(415, { message: `content-encoding: got ${encoding}, expected zstd or none.` });
  }
  try {
    return zstdDecompressSync(body, { maxOutputLength: mostBytes });
  } catch (e) {
    throw new HTTPException(400, {
      message: `the body: ${messageOf(e)}, expected zstd of at most ${mostBytes} bytes.`,
    });
  }
}
const tooLarge = (): HTTPException =>
  new HTTPException(413, {
    message: `the body is longer than ${mostBytes} bytes. Send fewer datums at a time.`,
  });

const isProtobuf = (header: string | undefined): boolean => header?.startsWith(wire.protobufType) ?? false;

/** The body as a schema reads it. */
async function read<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(await bytesOf(c)).toString("utf8"));
  } catch (e) {
    if (e instanceof HTTPException) throw e;
    throw new HTTPException(422, { message: `the body: ${messageOf(e)}, expected JSON.` });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HTTPException(422, { message: z.prettifyError(parsed.error) });
}

async function readForward(c: Context, schema: z.ZodType<wire.Pass>): Promise<[wire.Pass, string]> {
  if (!isProtobuf(c.req.header("content-type"))) {
    const pass = await read(c, schema);
    return [pass, digestOf(wire.passJson(pass))];
  }
  const body = await bytesOf(c);
  try {
    return [readPass(body), digestOf(body)];
  } catch (e) {
    throw new HTTPException(422, { message: messageOf(e) });
  }
}

interface Door {
  readonly key: string | undefined;
  readonly patience: number;
}

const adapters =
  "Adapters here sit on attention and MLP projections: train_unembed changes nothing. Models live in this process: save what should outlive it.";

function routes(api: Service, { key, patience }: Door): Hono {
  const app = new Hono().basePath("/api/v1");
  app.onError((e, c) => {
    if (e instanceof HTTPException) return c.json({ detail: e.message }, e.status);
    return c.json({ detail: messageOf(e) }, 500);
  });
  app.notFound((c) => c.json({ detail: `${c.req.method} ${c.req.path} is not served here.` }, 404));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.use(async (c, next) => {
    // a header that browsers send only to whom they asked first, so that no page reaches a server of this machine
    const sent = c.req.header("x-api-key") ?? "";
    if (!sent.startsWith(prefix) || (key !== undefined && !timingSafeEqual(digest(sent), digest(key)))) {
      const expected = key === undefined ? `any that begins with ${prefix}` : "the server's";
      throw new HTTPException(401, {
        message: `the key in X-API-Key is not right: expected ${expected}. Set TINKER_API_KEY.`,
      });
    }
    await next();
  });

  app.post("/client/config", (c) => c.json(wire.clientConfig.parse({})));
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
    await api.finish(c.req.param("id"));
    return c.body(null, 204);
  });

  app.post("/create_model", async (c) => c.json(api.createModel(await read(c, wire.createModelRequest))));
  app.post("/get_info", async (c) => c.json(api.info((await read(c, wire.modelRequest)).model_id)));
  app.post("/unload_model", async (c) => c.json(api.unload((await read(c, wire.modelRequest)).model_id)));
  app.post("/forward_backward", async (c) =>
    c.json(api.pass(...(await readForward(c, wire.forwardBackwardRequest)))),
  );
  app.post("/forward", async (c) => c.json(api.pass(...(await readForward(c, wire.forwardRequest)))));
  app.post("/optim_step", async (c) => c.json(api.step(await read(c, wire.optimStepRequest))));
  app.post("/save_weights", async (c) => c.json(api.save(await read(c, wire.saveWeightsRequest))));
  app.post("/load_weights", async (c) => c.json(await api.load(await read(c, wire.loadWeightsRequest))));
  app.post("/save_weights_for_sampler", async (c) =>
    c.json(api.saveForSampler(await read(c, wire.saveForSamplerRequest))),
  );

  app.post("/create_sampling_session", async (c) => {
    const id = await api.createSampler(await read(c, wire.createSamplingSessionRequest));
    return c.json({ type: "create_sampling_session", sampling_session_id: id });
  });
  app.get("/samplers/:id", (c) => c.json(api.sampler(c.req.param("id"))));
  app.post("/asample", async (c) => c.json(api.sample(await read(c, sampleBody))));

  app.post("/retrieve_future", async (c) => {
    const { request_id } = await read(c, wire.retrieveFutureRequest);
    const polled = await api.futures.poll(request_id, 1000 * patience);
    switch (polled.kind) {
      case "json":
        return c.json(polled.json);
      case "protobuf":
        if (!isProtobuf(c.req.header("accept"))) return c.json(polled.json());
        return c.body(polled.bytes, 200, { "content-type": wire.protobufType });
      case "failed":
        return c.json(polled.fault);
      case "pending":
        return c.json({ type: "try_again", request_id, queue_state: "active" }, 408);
      case "gone":
        throw new HTTPException(410, {
          message: `the result of ${request_id} made room for newer ones. Send the request again.`,
        });
      case "unknown":
        throw new HTTPException(404, {
          message: `no request ${request_id} here. If the server was started again since, it was lost: load your last checkpoint.`,
        });
    }
  });

  app.post("/weights_info", async (c) => {
    const saved = await api.store.find((await read(c, z.object({ tinker_path: z.string() }))).tinker_path);
    if (isFault(saved)) throw new HTTPException(404, { message: saved.error });
    return c.json({ ...saved.about, is_lora: saved.about.lora_rank !== undefined });
  });
  app.get("/training_runs/:id/checkpoints", async (c) => {
    const listed = await api.store.list(c.req.param("id"));
    return c.json({
      checkpoints: listed.map(({ path, kind, name, time }) => ({
        checkpoint_id: `${kind}/${name}`,
        checkpoint_type: kind === "weights" ? "training" : "sampler",
        time: time.toISOString(),
        tinker_path: path,
        public: false,
      })),
    });
  });
  app.delete("/training_runs/:id/checkpoints/:kind/:name", async (c) => {
    const kind = kinds.find((k) => k === c.req.param("kind"));
    if (!kind || !(await api.store.remove(c.req.param("id"), kind, c.req.param("name")))) {
      throw new HTTPException(404, {
        message: `no checkpoint ${c.req.param("kind")}/${c.req.param("name")} of this model.`,
      });
    }
    return c.body(null, 204);
  });
  return app;
}

/** What this server can not do is refused by name, not left out. */
const sampleBody = wire.sampleRequest.and(
  z.object({
    topk_sample_logprobs: z.literal(0, "topk_sample_logprobs is not served here: leave it out").optional(),
    target_prompt_logprobs: z.null("target_prompt_logprobs is not served here: leave it out").optional(),
    prompt_alt_tokens_k: z.literal(0, "prompt_alt_tokens_k is not served here: leave it out").optional(),
    prompt_logprobs_last_n: z.null("prompt_logprobs_last_n is not served here: leave it out").optional(),
    record_stability_info: z
      .literal(false, "record_stability_info is not served here: leave it out")
      .nullish(),
  }),
);
