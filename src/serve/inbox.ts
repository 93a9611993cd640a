/** The feedback inbox: what is acknowledged is on disk. */
import { Hono } from "hono";
import { reviewed } from "../common/text/reviews.ts";
import { isWhetstoneError } from "../core/errors.ts";
import type { ReceivedSignal } from "../core/served.ts";
import { readJson } from "../http/body.ts";
import type { Production, Recorder, Written } from "../store/production.ts";
import type { Gate, Gated } from "./auth.ts";
import { readFeedback } from "./feedback.ts";
import { feedbackSnippet } from "./feedbackSnippet.ts";
import { handed } from "./handed.ts";
import { feedbackBody } from "./limits.ts";
import { isAllWithin, narrowed } from "./narrow.ts";
import { records } from "./records.ts";
import { isRefused, type Refused, refusal, type WrongField } from "./refusal.ts";

export interface InboxOptions {
  readonly production: Pick<Production, "response" | "responses" | "signals" | "sessions">;
  readonly recorder: Pick<Recorder, "receive" | "receiveAll" | "tried">;
  readonly gate: Gate;
}

/** What one signal is answered with: its id, or that of the first one with its key. */
export type Acknowledged = Written;
/** What a list is answered with, in its order. */
export interface AcknowledgedList {
  readonly signals: readonly Acknowledged[];
}

/**
 * `POST /v1/feedback`, the script for pages at `GET /v1/feedback.js`, and what {@link records} answers. 201 once it is on disk, 200 where all of it had come before. A list
 * is taken whole or not at all, so that it can be sent again without doubling anything.
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
    if ((only || page === "other") && feedback.signals.some((s) => reviewed(s) !== undefined))
      return refusal(noReviewer);
    const signals = only ? feedback.signals.map((s) => narrowed(s, only)) : feedback.signals;
    try {
      if (only) {
        await recorder.tried(); // what was served a moment ago counts
        const within = await isAllWithin(signals, only, (id) => production.response(id));
        if (!within) return refusal(notYours);
      }
      const written = await keep(signals, feedback.list);
      const status = written.every((w) => w.duplicate) ? 200 : 201;
      const said = JSON.stringify(feedback.list ? { signals: written } : written[0]!);
      return handed(c, { status, headers: { "content-type": "application/json" } }, said);
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

/** What a failing store means to a client. Why it fails is for the server's log. */
export function storeRefusal(e: unknown): Refused | undefined {
  if (!isWhetstoneError(e)) return undefined;
  switch (e.code) {
    case "store.full":
      return {
        status: 507,
        code: "store_full",
        message: "The server's disk is full, and nothing was kept. Send it again later.",
        retryAfter: 30,
      };
    case "store.failed":
      return {
        status: 503,
        code: "store_failed",
        message: "The server cannot write at the moment, and nothing was kept. Send it again later.",
        retryAfter: 5,
      };
    case "store.erased":
      return {
        status: 410,
        code: "erased",
        message: "What this is about was erased, and nothing more is taken about it. Nothing was kept.",
      };
    case "store.refused":
      return { status: 400, code: "invalid_feedback", message: `${e.message} Nothing was kept.` };
    default:
      return undefined;
  }
}

const invalid = (fields: readonly WrongField[]): Refused => ({
  status: 400,
  code: "invalid_feedback",
  message: `${fields.map(({ path, message }) => `${path || "body"}: ${message}`).join("; ")}. Nothing of it was kept.`,
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
    "Reviews say what becomes of anybody's feedback, and neither a key for one session, response or user nor a page of another site gives them. Nothing was kept.",
};
const notYours: Refused = {
  status: 403,
  code: "narrowed_key",
  message: "This key is for one session or response, and the feedback is about another. Nothing was kept.",
};
