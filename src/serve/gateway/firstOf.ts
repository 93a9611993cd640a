/** Several versions in an order: the first that answers a call does. */
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { parsed } from "../../common/text/toolCalls.ts";
import { objectOf } from "../../core/json.ts";
import type { Id } from "../../core/types.ts";
import type { Answered, Answerer, Call, Others } from "./answerer.ts";

/** A version and its backend. */
export interface Member {
  readonly version: Id;
  readonly answerer: Answerer;
}

/** Name of the tag with the version that answered, where several stand in an order. */
export const answeredTag = "whetstone.answered";

type Send = (call: Call) => Promise<Answered>;

/**
 * Asks the next member only where the one before has certainly not answered: it could not be reached, or it refused the call
 * (429, 503, 529). After a failure that may have cost something (a broken connection, a time-out, 500, 502, 504) the next one is
 * asked only for calls with an `Idempotency-Key`, as their clients have said that a call may be sent again. What a client sends
 * as its own key reaches those members alone that would get it by themselves.
 * @param members at least one.
 */
export function firstOf(members: readonly Member[]): Answerer {
  const asked = (sends: readonly { readonly member: Member; readonly send: Send }[]): Send => {
    return async (call) => {
      for (const [i, { member, send }] of sends.entries()) {
        const isLast = i === sends.length - 1;
        const mine = { ...call, body: forModel(call.body, member.answerer.model) };
        let answered: Answered;
        try {
          answered = await send(mine);
        } catch (e) {
          if (isLast || call.gone.aborted || !mayGoOn(call, isUnsent(e))) throw e;
          continue;
        }
        if (isLast || !mayGoOn(call, isRefusal(answered.status), isFailure(answered.status)))
          return { ...answered, tags: { ...answered.tags, [answeredTag]: member.version } };
        await dumped(answered);
      }
      throw new Error("no version of the order answers such calls");
    };
  };
  const routes = new Set(members.flatMap(({ answerer }) => Object.keys(answerer.others ?? {})));
  const others = Object.fromEntries(
    [...routes].map((route) => {
      const able = members.flatMap((member) => {
        const send = member.answerer.others?.[route as keyof Others];
        return send ? [{ member, send }] : [];
      });
      return [route, asked(able)];
    }),
  );
  return {
    chat: asked(members.map((member) => ({ member, send: (call) => member.answerer.chat(call) }))),
    others,
    async models(call) {
      const lists = await Promise.allSettled(members.map(({ answerer }) => answerer.models(call)));
      return [...new Set(lists.flatMap((list) => (list.status === "fulfilled" ? list.value : [])))];
    },
    // the members are versions of their own, and are closed by whoever opened them
    close: async () => undefined,
  };
}

/** Whether a call may be sent once more, to this server or another. */
export const mayGoOn = ({ headers }: Pick<Call, "headers">, isUntaken: boolean, isFailed = true): boolean =>
  isUntaken || (isFailed && headers["idempotency-key"] !== undefined);

/** Whether a status says that the server refuses the call for now: too many requests, unavailable, overloaded (Anthropic's). */
export const isRefusal = (status: number): boolean => status === 429 || status === 503 || status === 529;

/** Whether a status says that the server, or one before it, failed at the call. */
export const isFailure = (status: number): boolean => status === 500 || status === 502 || status === 504;

/** Whether an error says that nothing was sent: the server's name, address or certificate stood in the way. */
export const isUnsent = (e: unknown): boolean =>
  e instanceof Error &&
  "code" in e &&
  typeof e.code === "string" &&
  (unsent.has(e.code) || e.code.startsWith("ERR_TLS_") || e.code.startsWith("CERT_"));

const unsent: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Reads a refusal to its end, so that its connection can be used again; one that is long, or does not end soon, is given up. */
async function dumped({ body }: Answered): Promise<void> {
  const reading = (async () => {
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > mostRefused) return; // leaving the loop closes the connection
    }
  })().catch(() => undefined); // it is of no interest how a refusal ends
  const late = new AbortController();
  const isOver = await Promise.race([
    reading.then(() => true),
    pause(longestRefusal, false, { signal: late.signal }).catch(() => true),
  ]);
  late.abort();
  if (!isOver && body instanceof Readable) body.destroy();
}
const mostRefused = 2 ** 16;
/** In milliseconds: the call waits for it. */
const longestRefusal = 500;

/** The client's body with the model of a member in place of its own. */
function forModel(body: Call["body"], model: string | undefined): Call["body"] {
  if (model === undefined) return body;
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
  const given = objectOf(parsed(text));
  return given && given.model !== model ? JSON.stringify({ ...given, model }) : body;
}

/** Longest wait before another try, in milliseconds, whatever the server asks for. */
const longestWait = 20_000;

/** Milliseconds to wait before try `again`, from 1: what the server asks for, else half a second, doubled each time. */
export function waitBefore(again: number, headers: Readonly<Record<string, string>> = {}): number {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  const stated = Number.isFinite(milliseconds) ? milliseconds : 1000 * seconds;
  return Math.min(longestWait, Number.isFinite(stated) && stated >= 0 ? stated : 250 * 2 ** again);
}

/** Sends a call again, up to `retries` times, where it may be; then gives what came last. */
export async function retried(send: () => Promise<Answered>, call: Call, retries: number): Promise<Answered> {
  for (let again = 1; ; again++) {
    let wait: number;
    try {
      const answered = await send();
      if (again > retries || !mayGoOn(call, isRefusal(answered.status), isFailure(answered.status)))
        return answered;
      wait = waitBefore(again, answered.headers);
      await dumped(answered);
    } catch (e) {
      if (again > retries || call.gone.aborted || !mayGoOn(call, isUnsent(e))) throw e;
      wait = waitBefore(again);
    }
    await pause(wait, undefined, { signal: call.gone });
  }
}
