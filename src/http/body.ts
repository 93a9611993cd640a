/** Reads request bodies up to a size limit, and parses them only if that is cheap. */

import { ownTurn } from "../common/files/slices.ts";
import type { Json } from "../core/json.ts";

/** Limits of one body. A value of a few bytes can cost a hundred times its size in memory. */
export interface BodyLimits {
  readonly bytes: number;
  /** Nesting depth of lists and objects. */
  readonly depth: number;
  /** Entries of all its lists and objects together. */
  readonly values: number;
  /** Different names of fields. */
  readonly names: number;
}

/** Limits of a chat completion request: the conversation of a day, with its tools. */
export const chatBody: BodyLimits = { bytes: 10 * 2 ** 20, depth: 100, values: 100_000, names: 10_000 };

/** Why a body was not read, in the format of every refusal. */
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
  // concurrent long bodies are parsed in separate turns of the event loop
  if (body.length > long) await ownTurn();
  const parsed = parseJson(body, limits);
  return "status" in parsed ? parsed : { ...parsed, bytes: body };
}

/** The bytes of a body whose content type is JSON. */
export function readJsonBytes(
  request: Request,
  most: number,
): Promise<{ readonly body: Uint8Array } | Unread> {
  const type = request.headers.get("content-type");
  if (type === null || /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) return readBytes(request, most);
  const message = `got the content type ${said(type)}, expected application/json. Send the header content-type: application/json.`;
  return Promise.resolve(bad(415, "not_json", message));
}

/** Parses bytes as JSON within the limits. */
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
    return bad(400, "invalid_utf8", "the body is not UTF-8. Encode it as UTF-8.");
  }
  try {
    return { json: JSON.parse(text) };
  } catch {
    const got = text.length === 0 ? "the body is empty" : "the body is not JSON";
    return bad(400, "invalid_json", `${got}. Send a JSON object with content-type application/json.`);
  }
}

/** Bytes above which a body takes noticeably long to parse. */
export const long = 2 ** 18;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const bad = (status: Unread["status"], code: string, message: string): Unread => ({ status, code, message });
/** A client's text as quoted in a response: shortened, without control characters that a terminal would act on. */
export const said = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

/** Reads a request's body up to `most` bytes. */
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
    // the HTTP parser delivers exactly the stated number of bytes
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

/** Bytes that mark the beginnings and ends of values; all others are skipped. */
const marks = new Uint8Array(256);
for (const mark of Buffer.from('[]{},:"')) marks[mark] = 1;

/** Checks the limits on the bytes of JSON without parsing it, since parsing can cost much more than the length suggests. */
export function beyondLimits(
  json: Uint8Array,
  { depth, values, names }: Omit<BodyLimits, "bytes">,
): Unread | undefined {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  /** Hashes of the names seen; rare collisions do not matter. */
  const known = new Set<number>();
  let [level, entries, strings] = [0, 0, 0];
  /** Bounds of the last string. */
  let [from, to] = [0, 0];
  for (let i = nextMark(text, 0); i < text.length; i = nextMark(text, i + 1)) {
    switch (text[i]) {
      case 0x22: // a string: skip to its end
        from = i + 1;
        to = endOfString(text, from);
        i = to;
        strings++;
        break;
      case 0x3a: // : after a name
        known.add(hashed(text, from, to));
        // hash a string only once, however many colons follow it
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
    // not JSON: the parser fails at this place or before
    if (strings > 2 * entries + 1) return undefined;
    if (level > depth) {
      return bad(400, "too_deep", `the body nests deeper than ${depth} levels. Send a flatter one.`);
    }
    if (entries > values) {
      return bad(413, "too_many_values", `the body has more than ${values} values. Send fewer at a time.`);
    }
    if (known.size > names) {
      const message = `the body has more than ${names} different names of fields. Send a list instead of an object.`;
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

/** FNV-1a in 30 bits, which V8 stores without boxing. */
function hashed(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash >>> 2;
}

/** Bytes of a string that are checked one by one before the next quote is searched for. */
const near = 100;

/** Index of the string's closing quote. */
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
