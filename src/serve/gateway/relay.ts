/** Answers on their way from whoever gave them to the client: looked at, put together for the record, handed on. */

import { parsed } from "../../common/text/toolCalls.ts";
import { isWhetstoneError, messageOf } from "../../core/errors.ts";
import { type Json, objectOf } from "../../core/json.ts";
import type { Id } from "../../core/types.ts";
import type { Head } from "../handed.ts";
import { storeRefusal } from "../inbox.ts";
import { errorBody, refusal } from "../refusal.ts";
import { requireBounded } from "./answerBody.ts";
import type { Answered } from "./answerer.ts";
import { type Asking, withId, withoutExtra } from "./asking.ts";
import type { Assembler } from "./assemble.ts";
import { serverEvents } from "./events.ts";
import type { End } from "./record.ts";

/** How a call ended. */
export interface HowEnded extends Omit<End, "at"> {
  /** For the log, where the error may quote what was said. */
  readonly why?: string;
}

/** An answer on its way. */
export interface Passing {
  readonly answered: Answered;
  readonly growing: Assembler;
  readonly ask: Asking;
  readonly id: Id;
  readonly gone: AbortSignal;
  /** The client's. */
  readonly socket?: { destroy?(): void };
  end(how: HowEnded): Promise<void>;
}

/**
 * An answer in one piece: handed on, and recorded in the same turn of the event loop, so that nothing can go on from it before;
 * the other way round where it has to be durable.
 * @param hand writes the body that the client gets.
 */
export async function whole(
  { answered, growing, ask, id, gone, end }: Passing,
  { headers }: Head,
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
    return unreachable(error, headers);
  }
  const bytes = Buffer.concat(chunks);
  const failed = answered.status >= 400;
  const text = bytes.toString("utf8");
  const body = parsed(text);
  if (body !== undefined) growing.take(body);
  const how: HowEnded = failed
    ? { status: "failed", ...statusError(answered.status, growing) }
    : { status: "complete" };
  const shown = failed || body === undefined ? bytes : (rewritten(text, body, ask, id, false) ?? "");
  if (!durable) {
    const response = hand(shown);
    void end(how);
    return response;
  }
  try {
    await end(how);
  } catch (e) {
    return unkept(e, headers);
  }
  return hand(shown);
}

function statusError(status: number, growing: Assembler): Omit<HowEnded, "status"> {
  const { error } = growing.result();
  return { error: `HTTP ${status}${error === undefined ? "" : `: ${error}`}`, why: `HTTP ${status}` };
}

/** An answer event by event, each handed on at once, and in one piece with those that came with it; recorded before the last. */
export async function* relayed({
  answered,
  growing,
  ask,
  id,
  gone,
  socket,
  end,
}: Passing): AsyncGenerator<Uint8Array> {
  try {
    let length = 0;
    for await (const events of serverEvents(answered.body)) {
      let shown = "";
      for (const { text, data } of events) {
        length += text.length;
        requireBounded(length);
        const chunk = data === undefined || data === "[DONE]" ? undefined : parsed(data);
        if (chunk !== undefined) {
          growing.take(chunk);
          shown += rewritten(text, chunk, ask, id, true) ?? "";
          continue;
        }
        if (data === "[DONE]") {
          if (shown !== "") yield Buffer.from(shown);
          shown = "";
          await end(asItEnded(growing));
        }
        shown += text;
      }
      if (shown !== "") yield Buffer.from(shown);
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
function rewritten(text: string, body: Json, { extra }: Asking, id: Id, event: boolean): string | undefined {
  const given = objectOf(body);
  if (!given) return text;
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

export const clientGone = "the client went away";

/** Nobody answered upstream. Clients of OpenAI's ask again by themselves after this status. */
export function unreachable(why: string, headers: Readonly<Record<string, string>>): Response {
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
