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
import type { TrafficStore, Write } from "../store/trafficStore.ts";
import type { Gate, Gated } from "./auth.ts";
import { pathOf } from "./gateway/path.ts";
import { type Place, type SessionTable, sessionTable } from "./gateway/sessions.ts";
import { storeRefusal } from "./inbox.ts";
import { type Form, spanReader, tracesBody } from "./otlpRead.ts";
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
    const request = unpacked(c.req.raw);
    if (isRefused(request)) return refusedIn(form, request);
    const sent = await (form === "json" ? readJsonBytes : readBytes)(request, tracesBody.bytes);
    if (isRefused(sent)) return refusedIn(form, sent);
    const spans = await read({ bytes: sent.body, form, received: gate.now() });
    if (isRefused(spans)) return refusedIn(form, spans);
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
      for (const draft of spans.responses) {
        const known = responses.some(({ id }) => id === draft.id) || (await production.response(draft.id));
        if (!known) responses.push(await placed(draft));
      }
      const batch: Write[] = [
        ...responses.map((response) => ({ kind: "response" as const, response })),
        ...spans.traced.map((call) => ({ kind: "traced" as const, call })),
        ...spans.signals.map((signal) => ({ kind: "signal" as const, signal })),
      ];
      const erased = await write(production, batch);
      const rejected = spans.others + spans.malformed + erased;
      const why = [
        ...(spans.others > 0 ? [`${spans.others} spans are of no model, tool or retriever`] : []),
        ...(spans.malformed > 0 ? [saidOf(spans)] : []),
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
    return {
      ...draft,
      trajectory,
      turn,
      origin: "otlp",
      version: `otlp:${draft.model === "" ? "unknown" : draft.model}`,
      propensity: 1,
      channels: [],
    };
  }
}

/** @returns how many entries are about erased data. */
async function write(production: Pick<TrafficStore, "write">, batch: readonly Write[]): Promise<number> {
  if (batch.length === 0) return 0;
  try {
    await production.write(batch);
    return 0;
  } catch (e) {
    if (!isErased(e)) throw e;
  }
  let erased = 0;
  for (const entry of batch) {
    await production.write([entry]).catch((e: unknown) => {
      if (!isErased(e)) throw e;
      erased++;
    });
  }
  return erased;
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
  return form === "json" ? refusal(refused) : inProtobuf(refused.status, refusalBytes(refused.message));
}

const inProtobuf = (status: number, body: Uint8Array<ArrayBuffer>): Response =>
  new Response(body, {
    status,
    headers: { "content-type": "application/x-protobuf", "cache-control": "no-store" },
  });

/** The request, decompressed. */
function unpacked(request: Request): Request | Refused {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding === "identity" || !request.body) return request;
  if (encoding !== "gzip") return unknownEncoding;
  const headers = new Headers(request.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  const body = request.body.pipeThrough(new DecompressionStream("gzip"));
  return new Request(request.url, { method: "POST", headers, body, duplex: "half" });
}

const unknownEncoding: Refused = {
  status: 415,
  code: "unknown_encoding",
  message:
    "got an unsupported content encoding, expected gzip or none. Set OTEL_EXPORTER_OTLP_COMPRESSION=gzip.",
};
/** Describes the malformed spans. */
const saidOf = ({ malformed, wrong = "" }: ReadSpans): string =>
  malformed === 1
    ? `1 span is malformed (${wrong})`
    : `${malformed} spans are malformed, the first: ${wrong}`;
