/** The gateway: chat completions that somebody else answers, passed on as they are and recorded. */
import { randomUUID } from "node:crypto";
import { type Context, Hono } from "hono";
import { isWhetstoneError, messageOf } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { objectOf } from "../../core/json.ts";
import { parsed } from "../../core/toolCalls.ts";
import type { Id } from "../../core/words.ts";
import type { Production, Recorder } from "../../store/production.ts";
import type { Gate, Gated } from "../auth.ts";
import { storeRefusal } from "../inbox.ts";
import { isOurs } from "../keys.ts";
import { chatBody, readJson } from "../limits.ts";
import { errorBody, isRefused, type Refused, refusal } from "../refusal.ts";
import type { Answered } from "./answerer.ts";
import { readAsked } from "./asked.ts";
import { type Asking, asking, withId, withoutExtra } from "./asking.ts";
import { type Assembler, assembler } from "./assemble.ts";
import { serverEvents } from "./events.ts";
import { identityOf } from "./identity.ts";
import { type End, isPlain, served, type Underway, withTokens } from "./record.ts";
import { type Cut, type SessionTable, sessionTable } from "./sessions.ts";
import type { LiveVersions } from "./versions.ts";

/** Settings of {@link gateway}. */
export interface GatewayOptions {
  readonly production: Pick<Production, "responses">;
  readonly recorder: Pick<Recorder, "record" | "recordDurably">;
  readonly versions: LiveVersions;
  readonly gate: Gate;
  /** Feedback can come on these channels, unless the header `x-whetstone-channels` of a call says otherwise. Default none. */
  readonly channels?: readonly string[];
  readonly sessions?: SessionTable;
  readonly now?: () => number;
  /** One line at a time; never a secret, never what was said. */
  readonly log?: (line: string) => void;
}

export interface GatewayState {
  /** Calls so far, and how they ended; those that run have not. */
  readonly calls: number;
  readonly complete: number;
  readonly cut: number;
  readonly failed: number;
  readonly running: number;
  /** Trajectories cut, by why. */
  readonly trajectoryCuts: Partial<Record<Cut, number>>;
}

export interface Gateway {
  readonly app: Hono<Gated>;
  state(): GatewayState;
  /** Refuses new calls; resolves once none runs any more. */
  drain(): Promise<void>;
}

/**
 * `POST /v1/chat/completions` and `GET /v1/models`, at the root and below `/session/<name>`, `/user/<name>` and
 * `/user/<name>/session/<name>`, so that a base URL alone says whose call it is.
 */
export function gateway(options: GatewayOptions): Gateway {
  const { production, recorder, versions, gate, channels = [], now = Date.now, log = () => {} } = options;
  const sessions = options.sessions ?? sessionTable();
  const counts = { calls: 0, complete: 0, cut: 0, failed: 0 };
  const trajectoryCuts: Partial<Record<Cut, number>> = {};
  const resuming = new Map<Id, Promise<void>>();
  let running = 0;
  let draining = false;
  let drained = (): void => {};

  /** What is stored of a session that somebody named and that is not remembered: it goes on from there. */
  function resume(session: Id): Promise<void> | undefined {
    if (sessions.knows(session)) return undefined;
    const known = resuming.get(session);
    if (known) return known;
    const reading = (async () => {
      try {
        for await (const response of production.responses({ session })) sessions.remember(response);
      } catch (e) {
        log(`session ${session} could not be read: ${messageOf(e)}`);
      } finally {
        resuming.delete(session);
      }
    })();
    resuming.set(session, reading);
    return reading;
  }

  async function chat(c: Context<Gated>): Promise<Response> {
    if (draining) return refusal(closing);
    const at = now();
    const read = await readJson(c.req.raw, chatBody);
    if (isRefused(read)) return refusal(read);
    const asked = readAsked(read.json);
    if (!asked) return refusal(noMessages);
    const who = identityOf(c, c.var.caller.only, asked.user);
    if (isRefused(who)) return refusal(who);
    const opened = sessions.open({ ...who, prompt: asked.prompt });
    const resumed = who.session === undefined ? undefined : resume(who.session);
    const id = `chatcmpl-${randomUUID().replaceAll("-", "")}`;
    const { user } = who;
    const call = { session: opened.session, response: id, ...(user === undefined ? {} : { user }) };
    const chosen = versions.choose(call);
    const shown = listed(c.req.header("x-whetstone-channels"));
    const underway: Underway = {
      id,
      asked,
      opened,
      ...(user === undefined ? {} : { user }),
      chosen,
      channels: shown ?? channels,
      at,
    };
    const durable = c.req.header("x-whetstone-durable") === "1";
    counts.calls++;
    running++;
    const { answerer } = chosen;
    const ask = asking(asked, answerer);
    const growing = assembler(answerer.exact ?? "raw", isPlain(asked, answerer));
    let ended: Promise<void> | undefined;
    let answered: Answered | undefined;

    /** Records how the call ended, once. */
    function end(how: HowEnded): Promise<void> {
      ended ??= record(how).finally(() => {
        if (--running === 0 && draining) drained();
      });
      return ended;
    }

    async function record(how: HowEnded): Promise<void> {
      // before anything is waited for, unless the session has to be read first
      if (resumed) await resumed;
      const result = growing.result();
      const status = how.status === "complete" && result.choices.length === 0 ? "failed" : how.status;
      const error = how.error ?? result.error;
      counts[status]++;
      const exact = answered?.tokens ? withTokens(result.choices, answered.tokens()) : result.choices;
      const choices = status === "failed" ? [] : exact;
      const ending = now();
      const place = sessions.place(
        { ...opened, ...(user === undefined ? {} : { user }), at: ending },
        choices,
      );
      if (place.cut && choices.length > 0) {
        trajectoryCuts[place.cut] = (trajectoryCuts[place.cut] ?? 0) + 1;
        log(`session ${opened.session}: ${place.trajectory} begins (${place.cut})`);
      }
      if (status !== "complete") log(`${id} ${status}: ${how.why ?? how.error ?? "no answer"}`);
      const response = served(underway, { ...result, choices }, place, {
        status,
        ...(error === undefined ? {} : { error }),
        at: ending,
      });
      if (durable) await recorder.recordDurably(response);
      else recorder.record(response);
    }

    const mine = {
      "x-whetstone-response": id,
      "x-whetstone-session": headerValue(opened.session),
      "x-whetstone-version": chosen.version,
    };
    const gone = c.req.raw.signal;
    try {
      answered = await answerer.chat({
        body: ask.body ?? read.bytes,
        headers: passedOn(c),
        gone,
      });
    } catch (e) {
      if (gone.aborted) {
        await end({ status: "cut", error: clientGone }).catch(() => undefined);
        return new Response(null, { status: 499 });
      }
      await end({ status: "failed", error: messageOf(e) }).catch(() => undefined);
      return unreachable(messageOf(e), mine);
    }
    const headers = { ...passedBack(answered.headers), ...mine };
    const socket = c.env?.incoming?.socket;
    const part: Part = { answered, growing, ask, id, end, gone, ...(socket ? { socket } : {}) };
    if (/^text\/event-stream\b/i.test(answered.headers["content-type"] ?? "")) {
      return new Response(ReadableStream.from(relayed(part)), { status: answered.status, headers });
    }
    return await whole(part, headers);
  }

  const v1 = new Hono<Gated>()
    .post("/chat/completions", gate.allow("chat"), chat)
    .get("/models", gate.allow("chat"), async (c) => {
      const call = { headers: passedOn(c), gone: c.req.raw.signal };
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

  return {
    app,
    state: () => ({ ...counts, running, trajectoryCuts: { ...trajectoryCuts } }),
    drain() {
      draining = true;
      if (running === 0) return Promise.resolve();
      return new Promise((resolve) => {
        drained = resolve;
      });
    },
  };
}

/** How a call ended. */
interface HowEnded extends Omit<End, "at"> {
  /** For the log, where the error may quote what was said. */
  readonly why?: string;
}

/** An answer on its way. */
interface Part {
  readonly answered: Answered;
  readonly growing: Assembler;
  readonly ask: Asking;
  readonly id: Id;
  readonly gone: AbortSignal;
  /** The client's. */
  readonly socket?: { destroy?(): void };
  end(how: HowEnded): Promise<void>;
}

/** An answer in one piece: recorded, then handed on. */
async function whole(
  { answered, growing, ask, id, gone, end }: Part,
  headers: Record<string, string>,
): Promise<Response> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of answered.body) chunks.push(chunk);
  } catch (e) {
    const error = gone.aborted ? clientGone : messageOf(e);
    await end({ status: "cut", error }).catch(() => undefined);
    return unreachable(error, headers);
  }
  const bytes = Buffer.concat(chunks);
  const failed = answered.status >= 400;
  const body = parsed(bytes.toString("utf8"));
  if (body !== undefined) growing.take(body);
  try {
    await end(
      failed ? { status: "failed", ...statusError(answered.status, growing) } : { status: "complete" },
    );
  } catch (e) {
    return unkept(e, headers);
  }
  const shown = failed || body === undefined ? bytes : rewritten(bytes.toString("utf8"), body, ask, id);
  return new Response(shown ?? "", { status: answered.status, headers });
}

function statusError(status: number, growing: Assembler): Omit<HowEnded, "status"> {
  const { error } = growing.result();
  return { error: `HTTP ${status}${error === undefined ? "" : `: ${error}`}`, why: `HTTP ${status}` };
}

/** An answer event by event, each handed on at once; recorded before the last. */
async function* relayed({ answered, growing, ask, id, gone, socket, end }: Part): AsyncGenerator<Uint8Array> {
  try {
    for await (const { bytes, data } of serverEvents(answered.body)) {
      const chunk = data === undefined || data === "[DONE]" ? undefined : parsed(data);
      if (chunk !== undefined) {
        growing.take(chunk);
        const shown = rewritten(bytes.toString("utf8"), chunk, ask, id);
        if (shown !== undefined) yield Buffer.from(shown);
        continue;
      }
      if (data === "[DONE]") await end(asItEnded(growing));
      yield bytes;
    }
    await end(asItEnded(growing));
  } catch (e) {
    if (isWhetstoneError(e) && storeRefusal(e)) {
      yield Buffer.from(`data: ${JSON.stringify(errorBody(storeRefusal(e)!))}\n\n`);
      return;
    }
    await end({ status: "cut", error: gone.aborted ? clientGone : messageOf(e) }).catch(() => undefined);
    // what broke off must not look as if it had ended; a server that is told so writes words of its own first
    if (!socket?.destroy) throw e;
    socket.destroy();
  } finally {
    // whoever reads no further has gone
    await end({ status: "cut", error: clientGone }).catch(() => undefined);
  }
}

const asItEnded = (growing: Assembler): HowEnded =>
  growing.ended() || growing.result().choices.length === 0
    ? { status: "complete" }
    : { status: "cut", error: "the upstream ended before its answer did" };

/** The text of an answer, or of an event of one, as the client gets it; nothing where it is none of the client's. */
function rewritten(text: string, body: Json, { extra }: Asking, id: Id): string | undefined {
  const given = objectOf(body);
  if (!given) return text;
  const event = /^data:/m.test(text);
  const anew = (value: Json): string =>
    event ? `data: ${JSON.stringify(value)}\n\n` : JSON.stringify(value);
  if (extra.ids || extra.logprobs || extra.usage) {
    const shown = withoutExtra(given, extra);
    return shown === undefined ? undefined : anew({ ...objectOf(shown), ...("id" in given ? { id } : {}) });
  }
  if (typeof given.id !== "string") return text;
  const changed = withId(text, given.id, id);
  return changed === text ? anew({ ...given, id }) : changed;
}

/** Of the client's headers, those that are for whoever answers; a key of ours is not. */
function passedOn(c: Context): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of forUpstream) {
    const value = c.req.header(name);
    if (value !== undefined) out[name] = value;
  }
  const authorization = c.req.header("authorization");
  if (authorization !== undefined && !isOurs(authorization.replace(/^Bearer +/i, ""))) {
    out.authorization = authorization;
  }
  return out;
}

const forUpstream = [
  "accept",
  "openai-organization",
  "openai-project",
  "openai-beta",
  "http-referer",
  "x-title",
  "traceparent",
  "tracestate",
];

const passedBack = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => forClient.has(name) || /^(x-ratelimit-|openai-)/.test(name)),
  );

const forClient: ReadonlySet<string> = new Set([
  "content-type",
  "cache-control",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "x-request-id",
]);

const listed = (header: string | undefined): readonly string[] | undefined =>
  header
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const headerValue = (name: string): string => (/^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name));

const clientGone = "the client went away";

/** Nobody answered upstream. Clients of OpenAI's ask again by themselves after this status. */
function unreachable(why: string, headers: Readonly<Record<string, string>>): Response {
  const message = `No answer from upstream: ${why}. Check that it runs, and its address in the version.`;
  const body = errorBody({ status: 503, code: "upstream_unreachable", message });
  return Response.json(body, { status: 502, headers: { ...headers, "content-type": "application/json" } });
}

/** An answer that was to be recorded durably, and could not be. */
function unkept(e: unknown, headers: Readonly<Record<string, string>>): Response {
  const refused = storeRefusal(e);
  if (!refused) throw e;
  const response = refusal(refused);
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith("x-whetstone-")) response.headers.set(name, value);
  }
  return response;
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
