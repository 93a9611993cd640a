/** A session with a server: kept alive by heartbeats, and what the server asks of its clients. */
import { setTimeout as pause } from "node:timers/promises";
import { unknownName } from "../../common/text/suggest.ts";
import { type Gate, gate } from "./gate.ts";
import { type ClientConfig, clientConfig, createSessionResponse, serverCapabilities } from "./protocol.ts";
import { type Answer, checked, elsewhere, failed, forgotten, type Transport } from "./transport.ts";

/** Stands for the client in the server's books. */
export const clientVersion = "0.38.0";

/** Bodies of passes: protobuf is a quarter of the size, and newer; some servers read JSON alone. */
export type Encoding = "json" | "protobuf";

export interface Session {
  readonly id: string;
  readonly over: Transport;
  readonly config: ClientConfig;
  /** How passes are written. Undefined until the server has read one. */
  encoding: Encoding | undefined;
  /**
   * Whether the server does operations in the order of their numbers, as the API has it. Undefined until a step has told who it
   * is: SkyRL (0.3.0) may do a step ahead of the pass before it, where both come at once.
   */
  ordered: boolean | undefined;
  /** Lets prompts go out, so many bytes at a time. Bodies of passes go one after the other, and need none. */
  readonly samples: Gate;
  /** Lets so many requests for samples be at work, of all sampling sessions together. */
  readonly places: Gate;
  /** Those on the server, by id. */
  readonly models: Set<string>;
  /** The number of the next model, and of the next sampling session. */
  nextModel(): number;
  nextSampler(): number;
  /** Longest sequence of a model, where the server says. */
  contextOf(baseModel: string): number | undefined;
  /** @throws WhetstoneError `engine.failed` once the server has forgotten the session. */
  requireAlive(): void;
  /** Lets go of a model. A server that has gone needs no farewell: it takes 2 seconds at most. */
  unload(model: string): Promise<void>;
  /** Lets go of all models, so that their places are free for others, and of the connections. */
  close(): Promise<void>;
}

const beatMs = 10_000;
const farewellMs = 2000;
/** How long a server may take until its first word, and when people are told that it does. */
const reach = { mostMs: 30_000, silentMs: 1000 } as const;

/**
 * The first word of a server, which is what it asks of its clients. What works on a server that went away waits far longer;
 * where none was there in the first place, somebody sits and looks.
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
/** What stands before a server that is not there says so. */
const gateways: readonly number[] = [502, 503, 504];
function start({ url, broken }: Transport): string {
  const why = broken();
  if (/no JSON/.test(why)) return elsewhere;
  if (/certificate/i.test(why)) {
    return "Correct the address, or name the file of whoever signed that certificate in NODE_EXTRA_CA_CERTS.";
  }
  const { port } = new URL(url);
  return `Start the server, then try again: whetstone serve --tinker${port && ` --port ${port}`} on this machine, or what starts your cluster's.`;
}

/**
 * @param baseModel must be among those that the server has.
 * @param encoding default: protobuf, and JSON where the first is not read.
 * @throws WhetstoneError `engine.failed`, `name.unknown`.
 */
export async function openSession(over: Transport, baseModel: string, encoding?: Encoding): Promise<Session> {
  const asked = await reached(over);
  // a server without this endpoint has the defaults
  const config = clientConfig.parse(asked.status === 200 ? asked.json : {});
  const made = await over.send("create_session", {
    json: { tags: ["whetstone"], user_metadata: null, sdk_version: clientVersion },
  });
  const opened = checked("create_session", () => createSessionResponse.parse(made.json));
  if (opened.warning_message) over.say(opened.warning_message);
  if (opened.error_message) throw failed("create_session", opened.error_message, "Do what the server says.");
  const told = await over.send("get_server_capabilities");
  const offered = checked("get_server_capabilities", () =>
    serverCapabilities.parse(told.json),
  ).supported_models;
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
    ordered: undefined,
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
      throw failed(`session ${opened.session_id}`, "an end, or no memory of it, at its heartbeat", forgotten);
    },
    async close() {
      clearInterval(beat);
      await Promise.all([...models].map(unload));
      over.close();
    },
  };
}
