/** The gateway: passes chat completions to backends unchanged, and records them. */
import { type Context, Hono } from "hono";
import { messageOf } from "../../core/errors.ts";
import type { Id } from "../../core/types.ts";
import { chatBody, readJson } from "../../http/body.ts";
import type { Recorder, TrafficStore } from "../../store/trafficStore.ts";
import type { Gate, Gated } from "../auth.ts";
import type { Only } from "../keys.ts";
import { orderedId } from "../orderedId.ts";
import { isRefused, type Refused, refusal } from "../refusal.ts";
import { sendResponse } from "../sendResponse.ts";
import type { Answered } from "./answerer.ts";
import { readAsked } from "./asked.ts";
import { asking } from "./asking.ts";
import { assembler } from "./assemble.ts";
import { headerValue, listed, passedBack, passedOn } from "./headers.ts";
import { type Identity, identityOf } from "./identity.ts";
import { pathOf } from "./path.ts";
import { isPlain, served, type Underway, withTokens } from "./record.ts";
import { clientGone, type HowEnded, type Passing, relayed, unpassable, unreachable, whole } from "./relay.ts";
import { type Cut, type Place, type SessionTable, sessionTable } from "./sessions.ts";
import type { LiveVersions } from "./versions.ts";

/** Milliseconds that a call's record may wait until its stored session is read. */
const mostReading = 1000;

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

/** Counters of a gateway since its start. */
export interface GatewayState {
  /** All calls so far. `complete`, `cut` and `failed` count those that have ended. */
  readonly calls: number;
  readonly complete: number;
  readonly cut: number;
  readonly failed: number;
  readonly running: number;
  /** Number of new trajectories, by the reason for the cut. */
  readonly trajectoryCuts: Partial<Record<Cut, number>>;
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
  const counts = { calls: 0, complete: 0, cut: 0, failed: 0 };
  const trajectoryCuts: Partial<Record<Cut, number>> = {};
  const resuming = new Map<Id, Promise<boolean>>();
  /** Records that wait until their session is read. */
  const recording = new Set<Promise<void>>();
  let running = 0;
  let draining = false;
  let drained = (): void => {};

  /**
   * Loads a named session from the store if it is not in memory, so that the call can continue it.
   * @returns whether it could be read; nothing if there is nothing to load.
   */
  function resume(session: Id): Promise<boolean> | undefined {
    const underway = resuming.get(session);
    if (underway) return underway;
    if (sessions.knows(session)) return undefined;
    const reading = (async () => {
      try {
        for await (const response of production.responses({ session })) await sessions.remember(response);
        return true;
      } catch (e) {
        log(`session ${session} could not be read: ${messageOf(e)}`);
        return false;
      } finally {
        resuming.delete(session);
      }
    })();
    resuming.set(session, reading);
    return reading;
  }

  /**
   * Restricts narrowed keys: a key for one user may not use another user's session, and a key for one session acts only for that
   * session's user. The body's `user`, which is meant for the provider, is then ignored.
   * @param resumed whether the stored session could be read.
   */
  async function within(
    who: Identity,
    only: Only,
    resumed: Promise<boolean> | undefined,
  ): Promise<Identity | Refused> {
    const { session, user, isFromBody } = who;
    // a key for both fixes the session's user, and a key for neither has no restriction
    const isForOne = (only.session === undefined) !== (only.user === undefined);
    if (session === undefined || user === undefined || !isForOne) return who;
    const isRead = resumed === undefined || (await resumed);
    const owner = isRead ? sessions.ownerOf(session) : undefined;
    if (owner?.user === user) return who;
    if (only.session !== undefined && isFromBody) return { session };
    if (!isRead) return unread;
    if (only.session !== undefined) return othersName;
    return owner === undefined ? who : othersSession;
  }

  async function chat(c: Context<Gated>): Promise<Response> {
    if (draining) return refusal(closing);
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
    const resumed = said.session === undefined ? undefined : resume(said.session);
    const who = only ? await within(said, only, resumed) : said;
    if (isRefused(who)) return refusal(who);
    const path = await pathOf(asked.prompt);
    // no await between here and `begin`: of two identical calls, the second sees the first
    const opened = sessions.open({ ...who, path });
    const id = `chatcmpl-${orderedId(at)}`;
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
    const { answerer } = chosen;
    const ask = asking(asked, answerer);
    const growing = assembler(answerer.exact ?? "raw", isPlain(asked, answerer));
    sessions.begin(opened);
    counts.calls++;
    running++;
    let ended: Promise<void> | undefined;
    let answered: Answered | undefined;

    /** Records how the call ended, once. Only durable calls wait for it. */
    function end(how: HowEnded): Promise<void> {
      if (ended === undefined) {
        const mine = record(how).finally(() => {
          recording.delete(mine);
          // in case recording failed before
          sessions.abandon(opened);
          if (--running === 0 && draining) drained();
        });
        if (!durable) mine.catch((e: unknown) => log(`${id} was not recorded: ${messageOf(e)}`));
        if (resumed) recording.add(mine);
        ended = mine;
      }
      return durable ? ended : Promise.resolve();
    }

    async function record(how: HowEnded): Promise<void> {
      // synchronous, unless the session has to be read first
      let known = true;
      if (resumed) known = await soon(resumed);
      const result = growing.result();
      const status = how.status === "complete" && result.choices.length === 0 ? "failed" : how.status;
      const error = how.error ?? result.error;
      counts[status]++;
      const exact = answered?.tokens ? withTokens(result.choices, answered.tokens()) : result.choices;
      const choices = status === "failed" ? [] : exact;
      const ending = now();
      const theirs = { ...opened, ...(user === undefined ? {} : { user }), at: ending };
      // the session's trajectories are unknown: name one after the call, since reusing a name would merge two trajectories
      if (!known) sessions.abandon(opened);
      const place: Place = known
        ? sessions.place(theirs, choices)
        : { trajectory: `${opened.session}/${id}`, turn: 0 };
      if (place.cut && choices.length > 0) {
        trajectoryCuts[place.cut] = (trajectoryCuts[place.cut] ?? 0) + 1;
        log(`session ${opened.session}: ${place.trajectory} begins (${place.cut})`);
      }
      if (status !== "complete") log(`${id} ${status}: ${how.why ?? how.error ?? "no answer"}`);
      const response = served(underway, { ...result, choices }, place, {
        status,
        ...(error === undefined ? {} : { error }),
        at: ending,
        ...(answered?.tags ? { tags: answered.tags } : {}),
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
        ...passedOn(c),
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
      if (ended) throw e;
      await end({ status: "failed", error: messageOf(e) }).catch(() => undefined);
      return unpassable(messageOf(e), mine);
    }
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

  return {
    app,
    state: () => ({ ...counts, running, trajectoryCuts: { ...trajectoryCuts } }),
    async recorded() {
      await Promise.allSettled(recording);
    },
    drain() {
      draining = true;
      if (running === 0) return Promise.resolve();
      return new Promise((resolve) => {
        drained = resolve;
      });
    },
  };
}

/** Whether it could be read in time. The timer is cleared at the end, since a timer would keep the call's objects alive. */
function soon(reading: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, mostReading, false).unref();
    void reading.then((known) => {
      clearTimeout(timer);
      resolve(known);
    });
  });
}

const closing: Refused = {
  status: 503,
  code: "closing",
  message: "The server is closing. Ask again in a moment.",
  retryAfter: 1,
};
const unread: Refused = {
  status: 503,
  code: "store_failed",
  message: "The session's user cannot be read at the moment. Send the request again later.",
  retryAfter: 5,
};
const othersSession: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one user, and the session is not that user's. Name another session, or use another key.",
};
const othersName: Refused = {
  status: 403,
  code: "narrowed_key",
  message:
    "This key is for one session, and the request names another user than that session's. Name no user, or use a key for that user.",
};
const noMessages: Refused = {
  status: 400,
  code: "invalid_request",
  message: "The body has no list of messages. Send a chat completion request as OpenAI documents it.",
};
