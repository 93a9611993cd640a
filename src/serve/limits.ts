/** What one client may ask of the server: sizes, depths, rates and patience. */
import { createServer, type Server } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Json } from "../core/json.ts";
import type { Refused } from "./refusal.ts";

export interface BodyLimits {
  readonly bytes: number;
  /** Lists and objects within one another. */
  readonly depth: number;
}

export const chatBody: BodyLimits = { bytes: 10 * 2 ** 20, depth: 100 };
export const feedbackBody: BodyLimits = { bytes: 2 ** 20, depth: 16 };

/** The JSON of a request's body, and its bytes, read no further than it may be long. */
export async function readJson(
  request: Request,
  limits: BodyLimits,
): Promise<{ readonly json: Json; readonly bytes: Uint8Array } | Refused> {
  const type = request.headers.get("content-type");
  if (type !== null && !/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
    return bad(
      415,
      "not_json",
      `got the content type ${said(type)}, expected application/json. Send the header content-type: application/json.`,
    );
  }
  const bytes = await readBytes(request, limits.bytes);
  if ("status" in bytes) return bytes;
  let text: string;
  try {
    text = utf8.decode(bytes.body);
  } catch {
    return bad(400, "invalid_utf8", "the body is no UTF-8. Encode it as UTF-8.");
  }
  if (isDeeper(text, limits.depth)) {
    return bad(400, "too_deep", `the body nests deeper than ${limits.depth} levels. Send a flatter one.`);
  }
  try {
    return { json: JSON.parse(text), bytes: bytes.body };
  } catch {
    const got = text.length === 0 ? "the body is empty" : "the body is no JSON";
    return bad(400, "invalid_json", `${got}. Send a JSON object with content-type application/json.`);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const bad = (status: 400 | 413 | 415, code: string, message: string): Refused => ({ status, code, message });
/** A client's own words in an answer: short, and nothing that a terminal would act on. */
export const said = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** A request's body, read no further than it may be long. */
export async function readBytes(
  request: Request,
  most: number,
): Promise<{ readonly body: Uint8Array } | Refused> {
  const tooLong = bad(
    413,
    "body_too_large",
    `the body is longer than ${most} bytes. Send less at a time: several requests, or shorter texts.`,
  );
  const stated = request.headers.get("content-length");
  try {
    // a stated length is what the HTTP parser hands on, to the byte
    if (stated !== null) {
      if (Number(stated) > most) return tooLong;
      return { body: new Uint8Array(await request.arrayBuffer()) };
    }
    if (!request.body) return { body: new Uint8Array() };
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of request.body) {
      length += chunk.length;
      if (length > most) return tooLong; // leaving the loop cancels the stream
      chunks.push(chunk);
    }
    return { body: Buffer.concat(chunks, length) };
  } catch {
    return bad(400, "body_broke_off", "the body broke off before its end. Send the request again.");
  }
}

/** Whether JSON text nests deeper than `most`, without building it. Brackets within strings do not count. */
export function isDeeper(text: string, most: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > most) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x22: // a string: on to its end
        for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) {
          if (text.charCodeAt(i) === 0x5c) i++; // \
        }
    }
  }
  return false;
}

/** Requests a second in the long run, and how many at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface Buckets {
  /** Takes one of `who`'s tokens. @returns 0, or the seconds until there is one again. */
  take(who: string, now: number): number;
  readonly size: number;
}

/**
 * A token bucket each: full at first, refilled at the rate. Whoever has not been heard of longest is forgotten first once
 * there are more than `most`, which gives nobody less than they are due.
 */
export function tokenBuckets({ perSecond, burst }: Rate, most = 10_000): Buckets {
  const buckets = new Map<string, { left: number; at: number }>();
  const leftAt = (who: string, now: number): number => {
    const known = buckets.get(who);
    if (!known) return burst;
    return Math.min(burst, known.left + (Math.max(0, now - known.at) / 1000) * perSecond);
  };
  const waitFor = (left: number): number => (left >= 1 ? 0 : (1 - left) / perSecond);
  return {
    take(who, now) {
      const left = leftAt(who, now);
      buckets.delete(who); // to the end of the map's order
      buckets.set(who, { left: left >= 1 ? left - 1 : left, at: now });
      if (buckets.size > most) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
      return waitFor(left);
    },
    get size() {
      return buckets.size;
    },
  };
}

export interface ServerLimits {
  readonly connections?: number;
  /** Milliseconds until a request's head is there, counted from its first byte. */
  readonly headMs?: number;
  /** Milliseconds until its body is there as well. */
  readonly requestMs?: number;
}

/**
 * An HTTP server that gives slow and greedy clients up: 10 s for all headers, which fit into 16 KiB; 60 s for the body; 2,000
 * connections at a time. Answers may take as long as they take.
 */
export function limitedServer(
  answer: (request: Request, env: object) => Response | Promise<Response>,
  { connections = 2000, headMs = 10_000, requestMs = 60_000 }: ServerLimits = {},
): Server {
  const server = createServer(
    {
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(2000, headMs),
      maxHeaderSize: 16 * 1024,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    },
    getRequestListener(answer, { overrideGlobalObjects: false }),
  );
  server.maxHeadersCount = 100;
  server.maxConnections = connections;
  return server;
}
