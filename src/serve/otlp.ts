/** Ingests spans of model calls over OTLP/HTTP. Spans of a request that is answered with 200 are on disk. */
import { Hono } from "hono";
import { isWhetstoneError } from "../core/errors.ts";
import type { ServedResponse } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import type { Draft } from "../exchange/import/entry.ts";
import type { ReadSpans } from "../exchange/otlp/otlp.ts";
import { answerBytes, refusalBytes } from "../exchange/otlp/protobuf.ts";
import { readBytes, readJsonBytes } from "../http/body.ts";
import { recent } from "../store/recent.ts";
import { requireStorable } from "../store/served.ts";
import type { TrafficStore, Write } from "../store/trafficStore.ts";
import type { Gate, Gated } from "./auth.ts";
import { pathOf } from "./gateway/path.ts";
import { type Place, type SessionTable, sessionTable } from "./gateway/sessions.ts";
import { storeRefusal } from "./inbox.ts";
import { type Form, type Packing, spanReader, tracesBody } from "./otlpRead.ts";
import { isRefused, type Refused, refusal } from "./refusal.ts";

export interface TracesOptions {
  readonly production: Pick<TrafficStore, "response" | "responses" | "write">;
  readonly gate: Pick<Gate, "allow" | "now">;
  /** Assigns calls to sessions and trajectories. Default: a new table. */
  readonly sessions?: SessionTable;
}

/** Most calls whose places are remembered. */
const mostPlaced = 10_000;

/**
 * `POST /v1/traces` of OTLP/HTTP, as protobuf or JSON, gzipped or not, and answered in the same form. A request is written in one transaction, so an exporter may retry it;
 * spans that were received before stay as they are. Spans of agents and steps, malformed spans and spans of erased sessions
 * are skipped and counted in `partialSuccess`; a request with malformed spans only is refused.
 */
export function traces({ production, gate, sessions = sessionTable() }: TracesOptions): Hono<Gated> {
  /** A retried span keeps the place that it got the first time. */
  const places = recent<Id, Place>(mostPlaced);
  const read = spanReader();
  return new Hono<Gated>().post("/v1/traces", gate.allow("traces"), async (c) => {
    const form = formOf(c.req.raw);
    const packing = packingOf(c.req.raw);
    if (isRefused(packing)) return refusedIn(form, packing);
    const sent = await (form === "json" ? readJsonBytes : readBytes)(c.req.raw, tracesBody.bytes);
    if (isRefused(sent)) return refusedIn(form, sent);
    const request = { bytes: sent.body, packing, form, received: gate.now() };
    const found = await read(request, c.req.raw.signal, c.var.caller?.key);
    if (isRefused(found)) return refusedIn(form, found);
    const spans = storable(found);
    const sound = spans.responses.length + spans.signals.length + spans.traced.length + spans.others;
    if (spans.malformed > 0 && sound === 0) {
      return refusedIn(form, {
        status: 400,
        code: "invalid_spans",
        message: `${saidOf(spans)}. Nothing was stored.`,
      });
    }
    try {
      const responses: ServedResponse[] = [];
      const taken = new Set<Id>();
      for (const draft of spans.responses) {
        if (taken.has(draft.id) || (await production.response(draft.id))) continue;
        taken.add(draft.id);
        responses.push(await placed(draft));
      }
      const batch: Write[] = [
        ...responses.map((response) => ({ kind: "response" as const, response })),
        ...spans.traced.map((call) => ({ kind: "traced" as const, call })),
        ...spans.signals.map((signal) => ({ kind: "signal" as const, signal })),
      ];
      const { erased, refused, why: told } = await write(production, batch);
      const malformed = spans.malformed + refused;
      const rejected = spans.others + malformed + erased;
      const why = [
        ...(spans.others > 0 ? [`${spans.others} spans are of no model, tool or retriever`] : []),
        ...(malformed > 0 ? [saidOf({ malformed, wrong: spans.wrong ?? told })] : []),
        ...(erased > 0 ? [`${erased} are about erased data`] : []),
      ];
      return accepted(form, rejected, `Left out: ${why.join(", ")}.`);
    } catch (e) {
      const refused = storeRefusal(e);
      // the cause of a failed write must reach the log, and only the error handler logs it
      if (refused && refused.status < 500) return refusedIn(form, refused);
      throw e;
    }
  });

  async function placed(draft: Draft): Promise<ServedResponse> {
    const { session, user, prompt, choices } = draft;
    if (!sessions.knows(session)) {
      for await (const before of production.responses({ session })) await sessions.remember(before);
    }
    const whose = user === undefined ? {} : { user };
    const opened = sessions.open({ session, ...whose, path: await pathOf(prompt) });
    const place =
      places.get(draft.id) ?? sessions.place({ ...opened, ...whose, at: draft.at + draft.ms }, choices);
    places.set(draft.id, place);
    const { trajectory, turn } = place;
    return { ...answeredBy(draft), trajectory, turn };
  }
}

const answeredBy = (draft: Draft): Omit<ServedResponse, "trajectory" | "turn"> => ({
  ...draft,
  origin: "otlp",
  version: `otlp:${draft.model === "" ? "unknown" : draft.model}`,
  propensity: 1,
  channels: [],
});

/** Spans without those that no store takes, which count as malformed: others of the request are not lost with them. */
function storable(spans: ReadSpans): ReadSpans {
  let { malformed, wrong } = spans;
  const only = <T>(all: readonly T[], entryOf: (one: T) => Write): readonly T[] =>
    all.filter((one) => {
      const why = whyRefused(() => requireStorable(entryOf(one)));
      if (why !== undefined) malformed++;
      wrong ??= why;
      return why === undefined;
    });
  const placed = { trajectory: "", turn: 0 };
  const responses = only(spans.responses, (draft) => ({
    kind: "response",
    response: { ...answeredBy(draft), ...placed },
  }));
  const traced = only(spans.traced, (call) => ({ kind: "traced", call }));
  const signals = only(spans.signals, (signal) => ({ kind: "signal", signal }));
  return { ...spans, responses, traced, signals, malformed, ...(wrong === undefined ? {} : { wrong }) };
}

/** Why a store takes an entry in no case; undefined if it does. */
function whyRefused(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (e) {
    if (isWhetstoneError(e) && e.code === "store.refused") return e.message;
    throw e;
  }
}

/** What became of a batch. */
interface Left {
  /** Entries about erased data. */
  readonly erased: number;
  /** Entries that no store takes, and why for the first. */
  readonly refused: number;
  readonly why?: string;
}

/** Writes a batch in one transaction; if the store refuses some of it, halves find these. */
async function write(production: Pick<TrafficStore, "write">, batch: readonly Write[]): Promise<Left> {
  if (batch.length === 0) return { erased: 0, refused: 0 };
  try {
    await production.write(batch);
    return { erased: 0, refused: 0 };
  } catch (e) {
    const isRefusal = isWhetstoneError(e) && e.code === "store.refused";
    if (!isErased(e) && !isRefusal) throw e;
    if (batch.length === 1)
      return isRefusal ? { erased: 0, refused: 1, why: e.message } : { erased: 1, refused: 0 };
  }
  const half = batch.length >> 1;
  const first = await write(production, batch.slice(0, half));
  const second = await write(production, batch.slice(half));
  const why = first.why ?? second.why;
  return {
    erased: first.erased + second.erased,
    refused: first.refused + second.refused,
    ...(why === undefined ? {} : { why }),
  };
}

const isErased = (e: unknown): boolean => isWhetstoneError(e) && e.code === "store.erased";

const formOf = ({ headers }: Request): Form =>
  /^application\/(x-)?protobuf/i.test(headers.get("content-type") ?? "") ? "protobuf" : "json";

/** The answer to a request whose spans are on disk, but for some. */
function accepted(form: Form, rejected: number, why: string): Response {
  if (form === "protobuf") return inProtobuf(200, answerBytes(rejected, why));
  return Response.json(
    rejected === 0 ? {} : { partialSuccess: { rejectedSpans: rejected, errorMessage: why } },
  );
}

function refusedIn(form: Form, refused: Refused): Response {
  if (form === "json") return refusal(refused);
  const response = inProtobuf(refused.status, refusalBytes(refused.message));
  if (refused.retryAfter !== undefined) response.headers.set("retry-after", String(refused.retryAfter));
  return response;
}

const inProtobuf = (status: number, body: Uint8Array<ArrayBuffer>): Response =>
  new Response(body, {
    status,
    headers: { "content-type": "application/x-protobuf", "cache-control": "no-store" },
  });

/** How a request is packed. */
function packingOf({ headers }: Request): Packing | Refused {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding === "identity") return "plain";
  return encoding === "gzip" || encoding === "x-gzip" ? "gzip" : unknownEncoding;
}

const unknownEncoding: Refused = {
  status: 415,
  code: "unknown_encoding",
  message:
    "got an unsupported content encoding, expected gzip or none. Set OTEL_EXPORTER_OTLP_COMPRESSION=gzip.",
};
/** Describes the malformed spans. */
const saidOf = ({ malformed, wrong = "" }: { malformed: number; wrong?: string | undefined }): string =>
  malformed === 1
    ? `1 span is malformed (${wrong})`
    : `${malformed} spans are malformed, the first: ${wrong}`;
