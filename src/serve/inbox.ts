/** The feedback inbox: an acknowledged signal is on disk. */
import { Hono } from "hono";
import { reviewedSignal } from "../common/text/reviews.ts";
import { isWhetstoneError } from "../core/errors.ts";
import type { ReceivedSignal } from "../core/served.ts";
import { readJson } from "../http/body.ts";
import type { Recorder, TrafficStore, Written } from "../store/trafficStore.ts";
import type { Gate, Gated } from "./auth.ts";
import { readFeedback } from "./feedback.ts";
import { feedbackSnippet } from "./feedbackSnippet.ts";
import { isAllWithin, withinScope } from "./keyScope.ts";
import { feedbackBody } from "./limits.ts";
import { records } from "./records.ts";
import { isRefused, type Refused, refusal, type WrongField } from "./refusal.ts";
import { sendResponse } from "./sendResponse.ts";

/** Settings of {@link inbox}. */
export interface InboxOptions {
  readonly production: Pick<
    TrafficStore,
    "response" | "responses" | "heads" | "signals" | "sessions" | "traced" | "prices" | "versions"
  >;
  readonly recorder: Pick<Recorder, "receive" | "receiveAll" | "tried">;
  readonly gate: Gate;
}

/** Acknowledgement of one signal: its id, or the id of the first signal with its key. */
export type Acknowledged = Written;
/** Acknowledgement of a list, in the order sent. */
export interface AcknowledgedList {
  readonly signals: readonly Acknowledged[];
}

/**
 * `POST /v1/feedback`, the script for pages at `GET /v1/feedback.js`, and the routes of {@link records}. Responds 201 once the
 * feedback is on disk, 200 if all of it was received before. A list is accepted as a whole or not at all, so a retry duplicates nothing.
 */
export function inbox({ production, recorder, gate }: InboxOptions): Hono<Gated> {
  const app = new Hono<Gated>().post("/v1/feedback", gate.allow("feedback", "narrowed too"), async (c) => {
    const key = c.req.header("idempotency-key");
    if (key !== undefined && !/^[\x21-\x7e]{1,200}$/.test(key)) return refusal(wrongKey);
    const read = await readJson(c.req.raw, feedbackBody);
    if (isRefused(read)) return refusal(read);
    const feedback = readFeedback(read.json, { now: gate.now(), ...(key === undefined ? {} : { key }) });
    if ("wrong" in feedback) return refusal(invalid(feedback.wrong));
    const { only, page } = c.var.caller;
    if ((only || page === "other") && feedback.signals.some((s) => reviewedSignal(s) !== undefined))
      return refusal(noReviewer);
    const signals = only ? feedback.signals.map((s) => withinScope(s, only)) : feedback.signals;
    try {
      if (only) {
        await recorder.tried(); // responses that were served a moment ago must be found
        const within = await isAllWithin(signals, only, (id) => production.response(id));
        if (!within) return refusal(notYours);
      }
      const written = await keep(signals, feedback.list);
      const status = written.every((w) => w.duplicate) ? 200 : 201;
      const said = JSON.stringify(feedback.list ? { signals: written } : written[0]!);
      return sendResponse(c, { status, headers: { "content-type": "application/json" } }, said);
    } catch (e) {
      const refused = storeRefusal(e);
      if (refused) return refusal(refused);
      throw e;
    }
  });
  return app.get("/v1/feedback.js", feedbackSnippet()).route("/", records(production, gate));

  async function keep(signals: readonly ReceivedSignal[], list: boolean): Promise<readonly Acknowledged[]> {
    return list ? recorder.receiveAll(signals) : [await recorder.receive(signals[0]!)];
  }
}

/** The response to a client when the store fails. The cause goes to the server's log. */
export function storeRefusal(e: unknown): Refused | undefined {
  if (!isWhetstoneError(e)) return undefined;
  switch (e.code) {
    case "store.full":
      return {
        status: 507,
        code: "store_full",
        message: "The server's disk is full, and nothing was stored. Send it again later.",
        retryAfter: 30,
      };
    case "store.failed":
      return {
        status: 503,
        code: "store_failed",
        message: "The server cannot write at the moment, and nothing was stored. Send it again later.",
        retryAfter: 5,
      };
    case "store.erased":
      return {
        status: 410,
        code: "erased",
        message:
          "The target of this feedback was erased, and the server accepts no more data about it. Nothing was stored.",
      };
    case "store.refused":
      return { status: 400, code: "invalid_feedback", message: `${e.message} Nothing was stored.` };
    default:
      return undefined;
  }
}

const invalid = (fields: readonly WrongField[]): Refused => ({
  status: 400,
  code: "invalid_feedback",
  message: `${fields.map(({ path, message }) => `${path || "body"}: ${message}`).join("; ")}. Nothing was stored.`,
  fields,
});
const wrongKey: Refused = {
  status: 400,
  code: "invalid_idempotency_key",
  message: "Idempotency-Key: expected 1 to 200 visible ASCII characters, such as a UUID.",
};
const noReviewer: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "Reviews decide about any user's feedback: a key for one session, response or user and a page of another site may not send them. Nothing was stored.",
};
const notYours: Refused = {
  status: 403,
  code: "narrowed_key",
  message: "This key is for one session or response, and the feedback is about another. Nothing was stored.",
};
