/** A session with a server: its heartbeats and the server's settings for clients. */
import { setTimeout as pause } from "node:timers/promises";
import { unknownName } from "../../common/text/suggest.ts";
import { type Gate, gate } from "./gate.ts";
import { type ClientConfig, clientConfig, createSessionResponse, serverCapabilities } from "./protocol.ts";
import { type Answer, checked, elsewhere, failed, forgotten, type Transport } from "./transport.ts";

/** Client version that is sent to the server. */
export const clientVersion = "0.38.0";

/** Encodings of passes: protobuf is newer and a quarter of the size; some servers only support JSON. */
export type Encoding = "json" | "protobuf";

export interface Session {
  readonly id: string;
  readonly over: Transport;
  readonly config: ClientConfig;
  /** Encoding of passes. Undefined until the server has accepted one. */
  encoding: Encoding | undefined;
  /**
   * Whether the server is SkyRL, as its first step tells; undefined until then. It does not execute operations in the order of their
   * numbers, as the API specifies: it may run a step before the pass that precedes it, if both arrive together. By JAX it compiles a
   * program for each shape.
   */
  skyRl: boolean | undefined;
  /**
   * Whether it is Open-RL, which has no passes without gradients and no log-probabilities of prompts, takes settings of PEFT with a
   * new adapter, and saves an optimiser's state on request.
   */
  readonly openRl: boolean;
  /** Limits the prompt bytes in flight. Bodies of passes are sent one after the other and need no limit. */
  readonly samples: Gate;
  /** Limits the concurrent sampling requests of all sampling sessions together. */
  readonly places: Gate;
  /** Models on the server, by id. */
  readonly models: Set<string>;
  /** Numbers of the next model and of the next sampling session. */
  nextModel(): number;
  nextSampler(): number;
  /** Longest sequence of a model, if the server reports it. */
  contextOf(baseModel: string): number | undefined;
  /** @throws WhetstoneError `engine.failed` once the server has forgotten the session. */
  requireAlive(): void;
  /** Unloads a model. Waits at most 2 seconds, in case the server is down. */
  unload(model: string): Promise<void>;
  /** Unloads all models, so that the server can reuse their slots, and closes the connections. */
  close(): Promise<void>;
}

const beatMs = 10_000;
const farewellMs = 2000;
/** Milliseconds until the first answer of a server times out, and until a message says that it is slow. */
const reach = { mostMs: 30_000, silentMs: 1000 } as const;

/**
 * The server's first answer, which holds its settings for clients. This timeout is much shorter than the patience with a
 * server that fails during a run, because a user is waiting.
 * @throws WhetstoneError `engine.failed`; the connections are closed then.
 */
export async function reached(over: Transport): Promise<Answer> {
  const limit = Math.min(over.patienceMs, reach.mostMs);
  const settled = new AbortController();
  const { signal } = settled;
  const notice = setTimeout(
    () =>
      over.say(
        `Trying to reach ${over.url}, which does not answer${because(over)}; for ${limit / 1000} seconds …`,
      ),
    reach.silentMs,
  );
  async function ask(): Promise<Answer | undefined> {
    let waited = 0;
    for (let ms = 250; waited < limit && !signal.aborted; ms = Math.min(2 * ms, 2000)) {
      const answer = await over.once("client/config", { json: { sdk_version: clientVersion } });
      if (answer && !gateways.includes(answer.status)) return answer;
      await over.wait(ms);
      waited += ms;
    }
    return undefined;
  }
  try {
    const answer = await Promise.race([ask(), pause(limit, undefined, { signal })]);
    if (answer) return answer;
  } finally {
    clearTimeout(notice);
    settled.abort();
  }
  over.close();
  throw failed(over.url, `no answer within ${limit / 1000} seconds${because(over)}`, start(over));
}
const because = (over: Transport): string => (over.broken() ? ` (${over.broken()})` : "");
/** Proxies report an unreachable server with these statuses. */
const gateways: readonly number[] = [502, 503, 504];
function start({ url, broken }: Transport): string {
  const why = broken();
  if (/no JSON/.test(why)) return elsewhere;
  if (/certificate/i.test(why)) {
    return "Correct the address, or set NODE_EXTRA_CA_CERTS to the file of that certificate's issuer.";
  }
  const { port } = new URL(url);
  return `Start the server, then try again: whetstone serve --tinker${port && ` --port ${port}`} on this machine, or your cluster's start command.`;
}

/**
 * @param baseModel must be one of the server's.
 * @param encoding default: protobuf, or JSON if the server does not support it.
 * @throws WhetstoneError `engine.failed`, `name.unknown`.
 */
export async function openSession(over: Transport, baseModel: string, encoding?: Encoding): Promise<Session> {
  const asked = await reached(over);
  // a server without this endpoint uses the defaults
  const config = clientConfig.parse(asked.status === 200 ? asked.json : {});
  const made = await over.send("create_session", {
    json: { tags: ["whetstone"], user_metadata: null, sdk_version: clientVersion },
  });
  const opened = checked("create_session", () => createSessionResponse.parse(made.json));
  if (opened.warning_message) over.say(opened.warning_message);
  if (opened.error_message)
    throw failed("create_session", opened.error_message, "Follow the server's message.");
  const told = await over.send("get_server_capabilities");
  const { supported_models: offered, single_process } = checked("get_server_capabilities", () =>
    serverCapabilities.parse(told.json),
  );
  const names = offered.flatMap(({ model_name }) => model_name ?? []);
  if (names.length > 0 && !names.includes(baseModel)) {
    throw unknownName("--base-model", baseModel, names);
  }
  let alive = true;
  const beat = setInterval(async () => {
    const answer = await over
      .once("session_heartbeat", { json: { session_id: opened.session_id } })
      .catch(() => undefined);
    if (answer?.status === 404 || answer?.status === 410) alive = false;
  }, beatMs);
  beat.unref();
  let [modelNumber, samplers] = [0, 0];
  const models = new Set<string>();
  async function unload(model_id: string): Promise<void> {
    models.delete(model_id);
    const told = over.once("unload_model", { json: { model_id } }).catch(() => undefined);
    await Promise.race([told, pause(farewellMs, undefined, { ref: false })]);
  }
  return {
    id: opened.session_id,
    over,
    config,
    encoding,
    skyRl: undefined,
    openRl: typeof single_process === "boolean",
    samples: gate(config.sample_dispatch_bytes_semaphore_size),
    places: gate(config.sample_max_concurrent_requests),
    models,
    unload,
    nextModel: () => modelNumber++,
    nextSampler: () => samplers++,
    contextOf: (name) =>
      offered.find(({ model_name }) => model_name === name)?.max_context_length ?? undefined,
    requireAlive() {
      if (alive) return;
      throw failed(
        `session ${opened.session_id}`,
        "a heartbeat answer that it has ended or is unknown",
        forgotten,
      );
    },
    async close() {
      clearInterval(beat);
      await Promise.all([...models].map(unload));
      over.close();
    },
  };
}
