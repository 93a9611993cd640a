/** Bodies of requests, read no further than they may be long, and parsed only where that is cheap. */

import { ownTurn } from "../common/files/slices.ts";
import type { Json } from "../core/json.ts";

/** What one body may hold. A few bytes can be a value of their own, and cost a hundred times what they weigh. */
export interface BodyLimits {
  readonly bytes: number;
  /** Lists and objects within one another. */
  readonly depth: number;
  /** Entries of all its lists and objects together. */
  readonly values: number;
  /** Different names of fields. */
  readonly names: number;
}

/** A chat completion request: the conversation of a day, with its tools. */
export const chatBody: BodyLimits = { bytes: 10 * 2 ** 20, depth: 100, values: 100_000, names: 10_000 };

/** Why a body is not read: in the shape of every refusal. */
export interface Unread {
  readonly status: 400 | 413 | 415;
  readonly code: string;
  readonly message: string;
}

/** The JSON of a request's body, and its bytes. */
export async function readJson(
  request: Request,
  limits: BodyLimits,
): Promise<{ readonly json: Json; readonly bytes: Uint8Array } | Unread> {
  const read = await readJsonBytes(request, limits.bytes);
  if ("status" in read) return read;
  const { body } = read;
  // of several that came at once, each is parsed in a turn of its own
  if (body.length > long) await ownTurn();
  const parsed = parseJson(body, limits);
  return "status" in parsed ? parsed : { ...parsed, bytes: body };
}

/** The bytes of a body that is said to be JSON. */
export function readJsonBytes(
  request: Request,
  most: number,
): Promise<{ readonly body: Uint8Array } | Unread> {
  const type = request.headers.get("content-type");
  if (type === null || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) return readBytes(request, most);
  const message = `got the content type ${said(type)}, expected application/json. Send the header content-type: application/json.`;
  return Promise.resolve(bad(415, "not_json", message));
}

/** The JSON of bytes, where it is one and within the limits. */
export function parseJson(
  bytes: Uint8Array,
  limits: Omit<BodyLimits, "bytes">,
): { readonly json: Json } | Unread {
  const beyond = beyondLimits(bytes, limits);
  if (beyond) return beyond;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return bad(400, "invalid_utf8", "the body is no UTF-8. Encode it as UTF-8.");
  }
  try {
    return { json: JSON.parse(text) };
  } catch {
    const got = text.length === 0 ? "the body is empty" : "the body is no JSON";
    return bad(400, "invalid_json", `${got}. Send a JSON object with content-type application/json.`);
  }
}

/** Bytes of a body that takes its time. */
export const long = 2 ** 18;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const bad = (status: Unread["status"], code: string, message: string): Unread => ({ status, code, message });
/** A client's own words in an answer: short, and nothing that a terminal would act on. */
export const said = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** A request's body, read no further than it may be long. */
export async function readBytes(
  request: Request,
  most: number,
): Promise<{ readonly body: Uint8Array } | Unread> {
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

/** Bytes that say where values begin and end: all others are passed over. */
const marks = new Uint8Array(256);
for (const mark of Buffer.from('[]{},:"')) marks[mark] = 1;

/** What of JSON would take longer to build and to walk than its length says, found in its bytes without building it. */
export function beyondLimits(
  json: Uint8Array,
  { depth, values, names }: Omit<BodyLimits, "bytes">,
): Unread | undefined {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  /** By their hashes: that two are one now and then changes nothing. */
  const known = new Set<number>();
  let [level, entries, strings] = [0, 0, 0];
  /** Of the last string. */
  let [from, to] = [0, 0];
  for (let i = nextMark(text, 0); i < text.length; i = nextMark(text, i + 1)) {
    switch (text[i]) {
      case 0x22: // a string: on to its end
        from = i + 1;
        to = endOfString(text, from);
        i = to;
        strings++;
        break;
      case 0x3a: // : after a name
        known.add(hashed(text, from, to));
        // a string names one value: however many colons follow it, it is read once
        from = to;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        level--;
        break;
      case 0x2c: // ,
        entries++;
        break;
      default: // [ and {
        entries++;
        level++;
    }
    // no JSON: whoever parses it finds that out no later than here
    if (strings > 2 * entries + 1) return undefined;
    if (level > depth) {
      return bad(400, "too_deep", `the body nests deeper than ${depth} levels. Send a flatter one.`);
    }
    if (entries > values) {
      return bad(413, "too_many_values", `the body has more than ${values} values. Send fewer at a time.`);
    }
    if (known.size > names) {
      const message = `the body has more than ${names} different names of fields. Send a list in place of an object.`;
      return bad(413, "too_many_names", message);
    }
  }
  return undefined;
}

function nextMark(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && marks[json[at]!] === 0) at++;
  return at;
}

/** FNV-1a in 30 bits, which V8 keeps without a box. */
function hashed(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash >>> 2;
}

/** Bytes of a string that are looked at one by one, before its next quote is searched for. */
const near = 100;

/** Where its closing quote stands. */
function endOfString(json: Buffer, from: number): number {
  for (let at = from; ; at++) {
    const until = Math.min(json.length, at + near);
    for (; at < until && json[at] !== 0x22; at++) if (json[at] === 0x5c) at++; // \
    if (at >= json.length) return json.length;
    if (json[at] === 0x22 && at < until) return at;
    at = json.indexOf(0x22, at);
    if (at < 0) return json.length;
    let slashes = 0;
    while (json[at - 1 - slashes] === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
}
