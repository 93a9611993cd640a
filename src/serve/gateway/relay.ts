/** Relays responses from a backend to the client, and assembles them for the record on the way. */

import { ownTurn } from "../../common/files/slices.ts";
import { parsed } from "../../common/text/toolCalls.ts";
import { isWhetstoneError, messageOf } from "../../core/errors.ts";
import { type Json, objectOf } from "../../core/json.ts";
import type { Id } from "../../core/types.ts";
import { long } from "../../http/body.ts";
import { storeRefusal } from "../inbox.ts";
import { errorBody, refusal } from "../refusal.ts";
import type { ResponseHead } from "../sendResponse.ts";
import { clientGone } from "./abandoned.ts";
import { requireBounded, whyUnread } from "./answerBody.ts";
import type { Answered } from "./answerer.ts";
import { type Asking, withId, withoutExtra } from "./asking.ts";
import type { Assembler } from "./assemble.ts";
import { type ServerEvent, serverEvents } from "./events.ts";
import type { End } from "./record.ts";
import { andUnread, type Unread } from "./unreadUsage.ts";

/** How a call ended. */
export interface HowEnded extends Omit<End, "at"> {
  /** Replaces `error` in the log, since the error may quote message contents. */
  readonly why?: string;
  /** What was passed on without being parsed. */
  readonly unread?: Unread;
}

/** A response in progress. */
export interface Passing {
  readonly answered: Answered;
  readonly growing: Assembler;
  readonly ask: Asking;
  readonly id: Id;
  readonly gone: AbortSignal;
  /** The client's socket. */
  readonly socket?: { destroy?(): void };
  end(how: HowEnded): Promise<void>;
}

/**
 * Relays a response in one piece, then records it in the same turn of the event loop, so that no call can continue it before
 * it is recorded. If the record must be durable, it is written first.
 * @param hand writes the body to the client.
 */
export async function whole(
  { answered, growing, ask, id, gone, end }: Passing,
  headersNow: () => ResponseHead["headers"],
  durable: boolean,
  hand: (body: string | Uint8Array) => Promise<Response>,
): Promise<Response> {
  const chunks: Uint8Array[] = [];
  try {
    let length = 0;
    for await (const chunk of answered.body) {
      length += chunk.length;
      requireBounded(length);
      chunks.push(chunk);
    }
  } catch (e) {
    const error = gone.aborted ? clientGone : messageOf(e);
    await end({ status: "cut", error }).catch(() => undefined);
    return unreachable(error, headersNow());
  }
  const bytes = Buffer.concat(chunks);
  const failed = answered.status >= 400;
  let shown: string | Uint8Array = bytes;
  let how: HowEnded = { status: "complete" };
  try {
    const read = await readAnswer(bytes);
    if (read) growing.take(read.body);
    if (read && !failed && !ask.asIs) shown = rewritten(read.text, read.body, ask, id, false) ?? "";
  } catch (e) {
    how = {
      status: "failed",
      error: unreadable(e),
      ...(failed ? {} : { unread: andUnread(undefined, bytes) }),
    };
    if (!failed && isAskedMore(ask)) {
      await end(how).catch(() => undefined);
      return unpassable(messageOf(e), headersNow());
    }
  }
  if (failed) how = { status: "failed", ...statusError(answered.status, growing) };
  if (!durable) {
    const response = hand(shown);
    void end(how);
    return response;
  }
  try {
    await end(how);
  } catch (e) {
    return unkept(e, headersNow());
  }
  return hand(shown);
}

/**
 * Parses a response as JSON. A long one is checked, parsed and rewritten in separate turns of the event loop.
 * @throws RangeError if it exceeds the limits for parsing.
 */
async function readAnswer(
  bytes: Uint8Array,
): Promise<{ readonly text: string; readonly body: Json } | undefined> {
  const isLong = bytes.length > long;
  if (isLong) await ownTurn();
  const unread = whyUnread(bytes);
  if (unread !== undefined) throw new RangeError(unread);
  if (isLong) await ownTurn();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const body = parsed(text);
  if (isLong) await ownTurn();
  return body === undefined ? undefined : { text, body };
}

const unreadable = (e: unknown): string => `the answer was passed on unread: ${messageOf(e)}`;

/** Whether a response must be parsed, since it holds parts that the client did not request. */
const isAskedMore = ({ extra }: Asking): boolean => extra.ids || extra.logprobs || extra.usage;

function statusError(status: number, growing: Assembler): Omit<HowEnded, "status"> {
  const { error } = growing.result();
  return { error: `HTTP ${status}${error === undefined ? "" : `: ${error}`}`, why: `HTTP ${status}` };
}

/** Relays a stream event by event, without delay; events that arrive together are sent together. Recorded before the last event is sent. */
export async function* relayed({
  answered,
  growing,
  ask,
  id,
  gone,
  socket,
  end,
}: Passing): AsyncGenerator<Uint8Array> {
  /** Why the rest of the stream is not parsed. */
  let unread: unknown;
  let unreadPart: Unread | undefined;
  function shownOf({ text, data, unread: beyond }: ServerEvent): string {
    try {
      if (beyond !== undefined) throw new RangeError(beyond);
      if (unread !== undefined) unreadPart = andUnread(unreadPart, text);
      const chunk = data === undefined || unread !== undefined ? undefined : parsed(data);
      if (chunk === undefined) return text;
      growing.take(chunk);
      return rewritten(text, chunk, ask, id, true) ?? "";
    } catch (e) {
      if (isAskedMore(ask)) throw e;
      unread ??= e;
      unreadPart = andUnread(unreadPart, text);
      return text;
    }
  }
  const asItEnded = (): HowEnded => {
    if (unreadPart) return { status: "failed", error: unreadable(unread), unread: unreadPart };
    return growing.ended() || growing.result().choices.length === 0
      ? { status: "complete" }
      : { status: "cut", error: growing.result().error ?? brokeOff, why: brokeOff };
  };
  const cutOff = (error: string): HowEnded => ({
    status: "cut",
    error,
    ...(unreadPart && { unread: unreadPart }),
  });
  let isDone = false;
  try {
    let length = 0;
    for await (const events of serverEvents(answered.body)) {
      let shown = "";
      for (const event of events) {
        length += event.text.length;
        requireBounded(length);
        const text = shownOf(event);
        if ((event.data === "[DONE]" || growing.isDone?.()) && !isDone) {
          isDone = true;
          if (shown !== "") yield Buffer.from(shown);
          shown = "";
          await end(asItEnded());
        }
        shown += text;
      }
      if (shown !== "") yield Buffer.from(shown);
    }
    if (!isDone) await end(asItEnded());
  } catch (e) {
    if (isWhetstoneError(e) && storeRefusal(e)) {
      yield Buffer.from(`data: ${JSON.stringify(errorBody(storeRefusal(e)!))}\n\n`);
      return;
    }
    await end(cutOff(gone.aborted ? clientGone : messageOf(e))).catch(() => undefined);
    // a broken response must not look complete: destroy the socket, since throwing would make the HTTP server write an error first
    if (!socket?.destroy) throw e;
    socket.destroy();
  } finally {
    // the reader stopped: the client has disconnected
    await end(cutOff(clientGone)).catch(() => undefined);
  }
}

/** The text of a response or event as the client gets it; nothing if no part of it is for the client. */
function rewritten(text: string, body: Json, ask: Asking, id: Id, event: boolean): string | undefined {
  const given = objectOf(body);
  if (!given || (ask.asIs && !isAskedMore(ask))) return text;
  const anew = (value: Json): string =>
    event ? `data: ${JSON.stringify(value)}\n\n` : JSON.stringify(value);
  if (isAskedMore(ask)) {
    const shown = withoutExtra(given, ask.extra);
    return shown === undefined
      ? undefined
      : anew({ ...objectOf(shown), ...("id" in given && !ask.asIs ? { id } : {}) });
  }
  if (typeof given.id !== "string") return text;
  const changed = withId(text, given.id, id);
  return changed === text ? anew({ ...given, id }) : changed;
}

const brokeOff = "the upstream closed before the response was complete";

/** The refusal if the upstream did not respond. OpenAI clients retry automatically after this status. */
export function unreachable(why: string, headers: Readonly<Record<string, string>>): Response {
  const message = `No response from the upstream: ${why}. Check that it runs, and its address in the version.`;
  const body = errorBody({ status: 503, code: "upstream_unreachable", message });
  return Response.json(body, { status: 502, headers: { ...headers, "content-type": "application/json" } });
}

/** The refusal if the upstream responded, but the response cannot be passed on. */
export function unpassable(why: string, headers: Readonly<Record<string, string>>): Response {
  const message = `The response of the upstream cannot be passed on: ${why}. Check what the upstream sends.`;
  const body = errorBody({ status: 503, code: "upstream_unreadable", message });
  return Response.json(body, { status: 502, headers: { ...headers, "content-type": "application/json" } });
}

/** The refusal if a durable record could not be written. */
function unkept(e: unknown, headers: Readonly<Record<string, string>>): Response {
  const refused = storeRefusal(e);
  if (!refused) throw e;
  const response = refusal(refused);
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith("x-whetstone-")) response.headers.set(name, value);
  }
  return response;
}
