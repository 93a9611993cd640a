/** The gateway: passes chat completions to backends unchanged, and records them. */
import { type Context, Hono } from "hono";
import { messageOf } from "../../core/errors.ts";
import { chatBody, readJson } from "../../http/body.ts";
import type { Recorder, TrafficStore } from "../../store/trafficStore.ts";
import type { Gate, Gated } from "../auth.ts";
import { orderedId } from "../orderedId.ts";
import { isRefused, type Refused, refusal } from "../refusal.ts";
import { sendResponse } from "../sendResponse.ts";
import type { Answered } from "./answerer.ts";
import { readAsked } from "./asked.ts";
import { type Asking, asking } from "./asking.ts";
import { assembler } from "./assemble.ts";
import { headerValue, listed, passedBack, passedOn } from "./headers.ts";
import { identityOf } from "./identity.ts";
import { pathOf } from "./path.ts";
import { isPlain, type Underway } from "./record.ts";
import { clientGone, type HowEnded, type Passing, relayed, unpassable, unreachable, whole } from "./relay.ts";
import { type GatewayState, type RunningCall, runningCalls } from "./runningCalls.ts";
import { sessionAccess } from "./sessionAccess.ts";
import { type SessionTable, sessionTable } from "./sessions.ts";
import type { LiveVersions } from "./versions.ts";

/** Settings of {@link gateway}. */
export interface GatewayOptions {
  readonly production: Pick<TrafficStore, "responses">;
  readonly recorder: Pick<Recorder, "record" | "recordDurably" | "late">;
  readonly versions: LiveVersions;
  readonly gate: Gate;
  /** Channels on which feedback can come; a call's header `x-whetstone-channels` overrides them. Default none. */
  readonly channels?: readonly string[];
  readonly sessions?: SessionTable;
  readonly now?: () => number;
  /** Called with one line at a time, never with secrets or message contents. */
  readonly log?: (line: string) => void;
}

/** A running gateway. */
export interface Gateway {
  readonly app: Hono<Gated>;
  state(): GatewayState;
  /** Resolves once all answered calls were handed to the recorder, including calls whose session has to be read first. */
  recorded(): Promise<void>;
  /** Refuses new calls; resolves once no call is running. */
  drain(): Promise<void>;
}

/**
 * `POST /v1/chat/completions` and `GET /v1/models`, at the root and below `/session/<name>`, `/user/<name>` and
 * `/user/<name>/session/<name>`, so that the base URL alone can name the user and session.
 */
export function gateway(options: GatewayOptions): Gateway {
  const { production, recorder, versions, gate, channels = [], now = Date.now, log = () => {} } = options;
  const sessions = options.sessions ?? sessionTable();
  const access = sessionAccess(production, sessions, log);
  const calls = runningCalls({ recorder, sessions, now, log });

  async function chat(c: Context<Gated>): Promise<Response> {
    if (calls.isDraining) return refusal(closing);
    const at = now();
    // unwritten responses would be lost in a crash: if writing is late, wait for it before answering more
    await recorder.late();
    const read = await readJson(c.req.raw, chatBody);
    if (isRefused(read)) return refusal(read);
    const asked = readAsked(read.json);
    if (!asked) return refusal(noMessages);
    const { only } = c.var.caller;
    const said = identityOf(c, only, asked.user);
    if (isRefused(said)) return refusal(said);
    const resumed = said.session === undefined ? undefined : access.resume(said.session);
    const who = only ? await access.within(said, only, resumed) : said;
    if (isRefused(who)) return refusal(who);
    const path = await pathOf(asked.prompt);
    // no await between here and `begin`: of two identical calls, the second sees the first
    const opened = sessions.open({ ...who, path });
    const id = `chatcmpl-${orderedId(at)}`;
    const user = who.user === undefined ? {} : { user: who.user };
    const chosen = versions.choose({ session: opened.session, response: id, ...user });
    const shown = listed(c.req.header("x-whetstone-channels"));
    const underway: Underway = { id, asked, opened, ...user, chosen, channels: shown ?? channels, at };
    const durable = c.req.header("x-whetstone-durable") === "1";
    const ask = asking(asked, chosen.answerer);
    const growing = assembler(chosen.answerer.exact ?? "raw", isPlain(asked, chosen.answerer));
    return await answer(c, calls.begin({ underway, growing, durable, resumed }), ask, ask.body ?? read.bytes);
  }

  const v1 = new Hono<Gated>()
    .post("/chat/completions", gate.allow("chat", "narrowed too"), chat)
    .get("/models", gate.allow("chat", "narrowed too"), async (c) => {
      const call = { ...passedOn(c), gone: c.req.raw.signal };
      const lists = await Promise.allSettled(versions.answerers().map((one) => one.models(call)));
      const names = new Set(lists.flatMap((list) => (list.status === "fulfilled" ? list.value : [])));
      const data = [...names].map((id) => ({ id, object: "model", created: 0, owned_by: "whetstone" }));
      return c.json({ object: "list", data });
    });
  const app = new Hono<Gated>()
    .route("/v1", v1)
    .route("/session/:session/v1", v1)
    .route("/user/:user/v1", v1)
    .route("/user/:user/session/:session/v1", v1);

  return { app, state: calls.state, recorded: calls.recorded, drain: calls.drain };
}

/** Requests the answer to a call and passes it to the client. */
async function answer(
  c: Context<Gated>,
  call: RunningCall,
  ask: Asking,
  body: Uint8Array | string,
): Promise<Response> {
  const { underway, growing, durable } = call;
  const { id, opened, chosen } = underway;
  const end = (how: HowEnded): Promise<void> => call.end(how);
  const mine = {
    "x-whetstone-response": id,
    "x-whetstone-session": headerValue(opened.session),
    "x-whetstone-version": chosen.version,
  };
  const gone = c.req.raw.signal;
  let answered: Answered;
  try {
    answered = await chosen.answerer.chat({ body, ...passedOn(c), gone });
    call.answered = answered;
  } catch (e) {
    if (gone.aborted) {
      await end({ status: "cut", error: clientGone }).catch(() => undefined);
      return new Response(null, { status: 499 });
    }
    await end({ status: "failed", error: messageOf(e) }).catch(() => undefined);
    return unreachable(messageOf(e), mine);
  }
  try {
    const head = { status: answered.status, headers: { ...passedBack(answered.headers), ...mine } };
    const socket = c.env?.incoming?.socket;
    const passing: Passing = { answered, growing, ask, id, end, gone, ...(socket ? { socket } : {}) };
    if (/^text\/event-stream\b/i.test(answered.headers["content-type"] ?? "")) {
      return await sendResponse(c, head, relayed(passing));
    }
    return await whole(passing, head, durable, (body) => sendResponse(c, head, body));
  } catch (e) {
    // the end is already recorded
    if (call.isEnded) throw e;
    await end({ status: "failed", error: messageOf(e) }).catch(() => undefined);
    return unpassable(messageOf(e), mine);
  }
}

const closing: Refused = {
  status: 503,
  code: "closing",
  message: "The server is closing. Ask again in a moment.",
  retryAfter: 1,
};
const noMessages: Refused = {
  status: 400,
  code: "invalid_request",
  message: "The body has no list of messages. Send a chat completion request as OpenAI documents it.",
};
