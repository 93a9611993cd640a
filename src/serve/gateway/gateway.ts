/** The gateway: passes calls to backends unchanged, and records conversations. */

import { type Context, Hono } from "hono";
import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { chatBody, readJson } from "../../http/body.ts";
import type { Recorder, TrafficStore } from "../../store/trafficStore.ts";
import type { Gate, Gated } from "../auth.ts";
import { tokensInMessages } from "../costs.ts";
import { orderedId } from "../orderedId.ts";
import { isRefused, refusal } from "../refusal.ts";
import { sendResponse } from "../sendResponse.ts";
import { clientGone } from "./abandoned.ts";
import type { Answered, Answerer } from "./answerer.ts";
import { type Asking, asking, askingAsIs } from "./asking.ts";
import { assembler } from "./assemble.ts";
import { azurePaths, inDeployment } from "./azure.ts";
import { completions } from "./completions.ts";
import { continuing, joining } from "./continuing.ts";
import { type Earlier, earlierResponses } from "./earlier.ts";
import { foreignTo, sentFor } from "./foreign.ts";
import { headerValue, listed, passedBack, passedOn } from "./headers.ts";
import { identityOf } from "./identity.ts";
import { messages } from "./messages.ts";
import { belowBase, passedThrough } from "./passThrough.ts";
import { pathOf } from "./path.ts";
import { chatCompletions, type Protocol, readBy } from "./protocol.ts";
import { isPlain, type Underway } from "./record.ts";
import { type HowEnded, type Passing, relayed, unpassable, unreachable, whole } from "./relay.ts";
import { responses } from "./responses.ts";
import { type GatewayState, type NewCall, type RunningCall, runningCalls } from "./runningCalls.ts";
import { sessionAccess } from "./sessionAccess.ts";
import { type SessionTable, sessionTable } from "./sessions.ts";
import type { Purse, Spending } from "./spending.ts";
import { closing, notSpoken, passedUnrecorded } from "./unrecorded.ts";
import type { LiveVersions } from "./versions.ts";

/** Settings of {@link gateway}. */
export interface GatewayOptions {
  readonly production: Pick<TrafficStore, "responses">;
  readonly recorder: Pick<Recorder, "record" | "recordPassed" | "recordDurably" | "late">;
  readonly versions: LiveVersions;
  readonly gate: Gate;
  /** Channels on which feedback can come; a call's header `x-whetstone-channels` overrides them. Default none. */
  readonly channels?: readonly string[];
  readonly sessions?: SessionTable;
  /** Whether calls of other paths are passed to the upstream. Default false. */
  readonly passThrough?: boolean;
  /** Budgets of keys. Default: none is kept. */
  readonly spending?: Spending;
  readonly now?: () => number;
  /** Called with one line at a time, never with secrets or message contents. */
  readonly log?: Log;
}

/** A running gateway. */
export interface Gateway {
  readonly app: Hono<Gated>;
  /** Calls of every other path, if they are passed on: to be mounted after all other routes. */
  readonly others: Hono<Gated>;
  state(): GatewayState;
  /** Resolves once all answered calls were handed to the recorder, including calls whose session has to be read first. */
  recorded(): Promise<void>;
  /** Refuses new calls; resolves once no call is running. */
  drain(): Promise<void>;
}

/**
 * `POST /v1/chat/completions`, `/v1/completions`, `/v1/responses`, `/v1/messages`, `/v1/embeddings` and `GET /v1/models`, also at Azure's paths, at the root and below
 * `/session/<name>`, `/user/<name>` and `/user/<name>/session/<name>`, so that the base URL alone can name the user and session.
 */
export function gateway(options: GatewayOptions): Gateway {
  const { production, recorder, versions, gate, channels = [], now = Date.now, log = () => {} } = options;
  const sessions = options.sessions ?? sessionTable();
  const access = sessionAccess(production, sessions, log);
  const earlier = earlierResponses(production, log);
  const { spending } = options;
  const calls = runningCalls({ recorder: noting(recorder, earlier, spending), sessions, now, log });

  const passing = passedUnrecorded({ versions, access, calls, now, ...(spending && { spending }) });

  const recorded =
    (protocol: Protocol) =>
    async (c: Context<Gated>): Promise<Response> => {
      if (calls.isDraining) return refusal(closing);
      const at = now();
      // unwritten responses would be lost in a crash: if writing is late, wait for it before answering more
      await recorder.late();
      const read = await inDeployment(c, readJson(c.req.raw, chatBody));
      if (isRefused(read)) return refusal(read);
      const { only } = c.var.caller;
      const named = identityOf(c, only, protocol.userOf(read.json));
      if (isRefused(named)) return refusal(named);
      const item = (id: string) => earlier.item({ ...named, session: only?.session }, id);
      const given = protocol.read(read.json, { item });
      if (!given) return refusal({ ...unreadBody, message: protocol.expected });
      const continued = protocol.continues?.(read.json);
      const before = continued === undefined ? undefined : await earlier.find(continued);
      const joined = joining(named, before, only);
      if (isRefused(joined)) return refusal(joined);
      const foreign = only && foreignTo(given.body, before !== undefined, (id) => item(id) !== undefined);
      if (foreign) return refusal(foreign);
      const said = joined ?? named;
      const asked = joined && before ? continuing(given, before) : given;
      const resumed = said.session === undefined ? undefined : access.resume(said.session);
      const who = only ? await access.within(said, only, resumed) : said;
      if (isRefused(who)) return refusal(who);
      const purse = await spending?.purse(c.var.caller);
      const path = await pathOf(asked.prompt);
      // no await between here and `begin`: of two identical calls, the second sees the first
      const opened = sessions.open({ ...who, path });
      const id = `${protocol.prefix}${orderedId(at)}`;
      const user = who.user === undefined ? {} : { user: who.user };
      const chosen = versions.choose({ session: opened.session, response: id, ...user });
      const { answerer } = chosen;
      const send = protocol.route === "/chat/completions" ? answerer.chat : answerer.others?.[protocol.route];
      if (!send) return refusal(notSpoken(protocol.route, chosen.version));
      const unpaid = purse?.refusal(chosen.version, asked.model, asked.body);
      if (unpaid) return refusal(unpaid);
      const shown = listed(c.req.header("x-whetstone-channels"));
      const { key } = c.var.caller;
      const keyed = key === undefined ? {} : { key };
      const underway: Underway = {
        id,
        asked,
        opened,
        ...user,
        ...keyed,
        chosen,
        channels: shown ?? channels,
        at,
      };
      const durable = c.req.header("x-whetstone-durable") === "1";
      const owner = { user: named.user, session: opened.session };
      const reader = protocol.reader?.((id, value) => earlier.note(owner, id, value));
      const isCounted = purse !== undefined && protocol.statesUsage !== true;
      const ask = (reader ? askingAsIs : asking)(asked, answerer, isCounted);
      const plain = assembler(answerer.exact ?? "raw", isPlain(asked, answerer));
      const growing = reader ? readBy(reader, plain) : plain;
      const keepsId = ask.asIs === true;
      const paid = purse && paidBy(purse, underway);
      const call = calls.begin({ underway, growing, durable, resumed, keepsId, ...(paid && { paid }) });
      return await answer(c, call, send, ask, ask.body ?? sentFor(c.var.caller, read));
    };

  const v1 = new Hono<Gated>();
  for (const protocol of [chatCompletions, completions, responses, messages]) {
    v1.post(protocol.route, gate.allow("chat", "narrowed too"), recorded(protocol));
  }
  for (const route of ["/embeddings", "/messages/count_tokens"] as const) {
    v1.post(route, gate.allow("chat", "narrowed too"), (c) => passing(c, route));
  }
  v1.get("/models", gate.allow("chat", "narrowed too"), async (c) => {
    const call = { ...passedOn(c), gone: c.req.raw.signal };
    const lists = await Promise.allSettled(versions.answerers().map((one) => one.models(call)));
    const names = new Set(lists.flatMap((list) => (list.status === "fulfilled" ? list.value : [])));
    const data = [...names].map((id) => ({ id, object: "model", created: 0, owned_by: "whetstone" }));
    return c.json({ object: "list", data });
  });
  const app = new Hono<Gated>();
  for (const base of bases) for (const below of ["/v1", ...azurePaths]) app.route(`${base}${below}`, v1);
  const others = new Hono<Gated>();
  if (options.passThrough) {
    const pass = passedThrough({ versions, calls, recorder, now });
    for (const base of bases) {
      for (const below of ["/v1", "/openai/v1"])
        others.all(`${base}${below}/*`, gate.allow("chat"), async (c, next) => {
          const path = belowBase(c.req.url);
          return path === undefined ? await next() : await pass(c, path);
        });
    }
  }
  return { app, others, state: calls.state, recorded: calls.recorded, drain: calls.drain };
}

/** Before `/v1`: the base URL may name the user and session. */
const bases = ["", "/session/:session", "/user/:user", "/user/:user/session/:session"];

function paidBy(purse: Purse, { chosen, asked }: Underway): NonNullable<NewCall["paid"]> {
  const back = purse.hold(chosen.version, asked.model, tokensInMessages(asked.prompt), asked.body);
  return (response) => back(response && purse.costOf(response));
}

/** Every recorded response can be named by a later request. */
const noting = (
  recorder: GatewayOptions["recorder"],
  earlier: Earlier,
  spending: Spending | undefined,
): typeof recorder => ({
  ...recorder,
  record(response) {
    earlier.remember(response);
    spending?.note(response);
    return recorder.record(response);
  },
  recordDurably(response) {
    earlier.remember(response);
    spending?.note(response);
    return recorder.recordDurably(response);
  },
});

async function* resumedFrom(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** Requests the answer to a call and passes it to the client. */
async function answer(
  c: Context<Gated>,
  call: RunningCall,
  send: Answerer["chat"],
  ask: Asking,
  body: Uint8Array | string,
): Promise<Response> {
  const { underway, growing, durable } = call;
  const { id, opened, chosen } = underway;
  const end = (how: HowEnded): Promise<void> => call.end(how);
  const mine = () => ({
    "x-whetstone-response": call.id(),
    "x-whetstone-session": headerValue(opened.session),
    "x-whetstone-version": chosen.version,
  });
  const gone = c.req.raw.signal;
  let answered: Answered;
  try {
    const who = underway.user ?? c.var.caller.key;
    answered = await send({ body, ...passedOn(c), ...(who === undefined ? {} : { who }), gone });
    call.answered = answered;
  } catch (e) {
    if (gone.aborted) {
      await end({ status: "cut", error: clientGone }).catch(() => undefined);
      return new Response(null, { status: 499 });
    }
    await end({ status: "failed", error: messageOf(e) }).catch(() => undefined);
    return unreachable(messageOf(e), mine());
  }
  try {
    const head = () => ({ status: answered.status, headers: { ...passedBack(answered.headers), ...mine() } });
    const socket = c.env?.incoming?.socket;
    const passing: Passing = { answered, growing, ask, id, end, gone, ...(socket ? { socket } : {}) };
    if (/^text\/event-stream\b/i.test(answered.headers["content-type"] ?? "")) {
      const stream = relayed(passing);
      // the first events hold the id that the client keeps, and the head names it
      const first = ask.asIs ? await stream.next() : undefined;
      return await sendResponse(c, head(), first ? resumedFrom(first, stream) : stream);
    }
    return await whole(passing, mine, durable, (body) => sendResponse(c, head(), body));
  } catch (e) {
    // the end is already recorded
    if (call.isEnded) throw e;
    await end({ status: "failed", error: messageOf(e) }).catch(() => undefined);
    return unpassable(messageOf(e), mine());
  }
}

const unreadBody = { status: 400, code: "invalid_request" } as const;
