/** Calls of any other path, such as files, images and audio: passed on as they are, and recorded without their contents. */
import type { Context } from "hono";
import { messageOf } from "../../core/errors.ts";
import type { TracedCall } from "../../core/served.ts";
import type { Recorder } from "../../store/trafficStore.ts";
import type { Gated } from "../auth.ts";
import { holdsOurs } from "../keys.ts";
import { orderedId } from "../orderedId.ts";
import { isRefused, type Refused, refusal } from "../refusal.ts";
import { sendResponse } from "../sendResponse.ts";
import { type Answered, bodiless } from "./answerer.ts";
import { passedBack, passedOn } from "./headers.ts";
import { identityOf } from "./identity.ts";
import { unreachable } from "./relay.ts";
import type { RunningCalls } from "./runningCalls.ts";
import { keyTag } from "./spending.ts";
import { closing, notSpoken } from "./unrecorded.ts";
import type { LiveVersions } from "./versions.ts";

/** What {@link passedThrough} needs of the gateway. */
export interface PassThroughParts {
  readonly versions: LiveVersions;
  readonly calls: RunningCalls;
  readonly recorder: Pick<Recorder, "recordPassed" | "late">;
  readonly now: () => number;
}

/** Most bytes of a request, which is not held in memory: providers take audio of 25 MB, and files in parts of 64 MB. */
const mostPassedBytes = 128 << 20;

/**
 * Passes a call on, byte for byte in both directions, to the version that answers its session. It is sent once. A key with a budget is refused, since
 * nobody knows what such a call costs; and so is a narrowed key, since the paths name objects of the whole account.
 * @param below where the client's path continues the upstream's: everything after `/v1`, with its slash.
 */
export const passedThrough =
  ({ versions, calls, recorder, now }: PassThroughParts) =>
  async (c: Context<Gated>, below: string): Promise<Response> => {
    if (calls.isDraining) return refusal(closing);
    const { method } = c.req;
    if (!passedMethods.has(method)) return refusal(strangeMethod);
    const path = plainPath(below);
    if (path === undefined) return refusal(strangePath);
    const { key, budget } = c.var.caller;
    if (budget) return refusal(noPrice);
    const who = identityOf(c, undefined, undefined);
    if (isRefused(who)) return refusal(who);
    // as for conversations: what is not written yet would be lost in a crash
    await recorder.late();
    const at = now();
    const id = `pass_${orderedId(at)}`;
    const session = who.session ?? id;
    const user = who.user === undefined ? {} : { user: who.user };
    const { version, answerer } = versions.choose({ session, response: id, ...user });
    if (!answerer.pass) return refusal(notSpoken(below, version));
    if (Number(c.req.header("content-length") ?? 0) > mostPassedBytes) return refusal(tooLong);
    const sent = counted(c.req.raw.body ?? undefined, mostPassedBytes);
    const received = { bytes: 0 };
    const leave = calls.beginPassed();
    const end = (status: number | undefined, error?: string): void => {
      const why = error ?? (status !== undefined && status >= 400 ? `status ${status}` : undefined);
      leave();
      recorder.recordPassed({
        id,
        session,
        ...user,
        kind: "passed",
        name: shortened(`${method} /v1${path}`),
        at,
        ms: now() - at,
        ...(why === undefined ? {} : { error: why }),
        tags: {
          "whetstone.version": version,
          "whetstone.bytes": `${sent.bytes} in, ${received.bytes} out`,
          ...(status === undefined ? {} : { "whetstone.status": String(status) }),
          ...(key === undefined ? {} : { [keyTag]: key }),
        },
      } satisfies TracedCall);
    };
    const mine = { "x-whetstone-version": version };
    const gone = c.req.raw.signal;
    let answered: Answered;
    try {
      const body = method === "GET" || method === "HEAD" ? undefined : sent.body;
      answered = await answerer.pass({
        method,
        path: below,
        ...(body && { body }),
        ...passedOn(c, ofBody),
        gone,
      });
    } catch (e) {
      const why = gone.aborted ? "the client disconnected" : messageOf(e);
      end(undefined, why);
      if (gone.aborted) return new Response(null, { status: 499 });
      return sent.isTooLong ? refusal(tooLong) : unreachable(why, mine);
    }
    const { status } = answered;
    const head = {
      status,
      headers: { ...passedBack(answered.headers, ofFile), ...noPage, ...mine },
    };
    if (bodiless.has(status)) {
      end(status);
      return new Response(null, head);
    }
    return await sendResponse(
      c,
      head,
      ending(answered.body, received, (error) => end(status, error)),
    );
  };

/** Below `/v1`: what belongs to Whetstone itself, and is not passed on whatever the method. */
export const ownNames: ReadonlySet<string> = new Set([
  "feedback",
  "feedback.js",
  "keys",
  "sessions",
  "splits",
  "traces",
  "versions",
]);

/** Where a URL's path continues the base URL, with its slash; nothing for a path of Whetstone's own. */
export function belowBase(url: string): string | undefined {
  const below = /^(?:\/user\/[^/]+)?(?:\/session\/[^/]+)?(?:\/openai)?\/v1(\/.*)$/.exec(
    new URL(url).pathname,
  )?.[1];
  return below === undefined || ownNames.has(below.split("/")[1]!) ? undefined : below;
}

/** Headers of a request that say what its body is, or which part of an answer is wanted. */
const ofBody = ["content-type", "content-length", "content-encoding", "range"];
/** Headers of an answer that is a file, or a part of one. */
const ofFile = ["content-disposition", "content-range"];

/** What the provider sends is no page of this server: its scripts would act with the rights of the dashboard. */
const noPage = { "content-security-policy": "sandbox; default-src 'none'" };

/** A body that counts its bytes, and ends with a RangeError beyond `most` of them. */
export function counted(of: AsyncIterable<Uint8Array> | undefined, most: number) {
  let bytes = 0;
  async function* pieces(all: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of all) {
      bytes += piece.length;
      if (bytes > most) throw new RangeError(`more than ${most} bytes`);
      yield piece;
    }
  }
  return {
    get bytes() {
      return bytes;
    },
    get isTooLong() {
      return bytes > most;
    },
    body: of && pieces(of),
  };
}

/** The same body. @param end called once: with an error where the body broke off or nobody read it to its end. */
async function* ending(
  body: AsyncIterable<Uint8Array>,
  received: { bytes: number },
  end: (error?: string) => void,
): AsyncGenerator<Uint8Array> {
  let why: string | undefined = "the client disconnected";
  try {
    for await (const piece of body) {
      received.bytes += piece.length;
      yield piece;
    }
    why = undefined;
  } catch (e) {
    why = messageOf(e);
    throw e;
  } finally {
    end(why);
  }
}

/** Not TRACE, for one, which would show the client the key that the upstream got. */
const passedMethods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

/**
 * The path decoded, if it stays below the upstream's own however a server decodes it: twice, without what follows a semicolon, or with
 * the letters that look like dots and slashes. And it holds no key of this server.
 */
function plainPath(path: string): string | undefined {
  if (path.length > 2000 || !/^(\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+$/.test(path)) return undefined;
  let plain: string;
  try {
    plain = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  const segments = plain.normalize("NFKC").split("/");
  const strange = segments.some((one) => /[\\%\p{C}]|^[.\s]+(;|$)/u.test(one));
  return strange || segments.length !== path.split("/").length || holdsOurs(plain) ? undefined : plain;
}

/** A name that the store takes. */
const shortened = (name: string): string =>
  name.length > mostNamed ? `${name.slice(0, mostNamed).toWellFormed()}…` : name;
const mostNamed = 500;

const strangeMethod: Refused = {
  status: 405,
  code: "method_not_allowed",
  message: `Calls of other paths have the method ${[...passedMethods].join(", ")}.`,
};
const strangePath: Refused = {
  status: 400,
  code: "invalid_path",
  message:
    "A path that is passed on has segments of letters, digits and punctuation, without dots alone, encoded slashes or a key of this server.",
};
const noPrice: Refused = {
  status: 403,
  code: "no_price",
  message:
    "This key has a budget, and what calls of other paths cost is not known. Use a key without a budget for them.",
};
const tooLong: Refused = {
  status: 413,
  code: "body_too_large",
  message: `The body is longer than ${mostPassedBytes} bytes. Send it in parts.`,
};
