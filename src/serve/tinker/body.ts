/** Reads request bodies, compressed or not, and validates them. */
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { z } from "zod";
import { ownTurn } from "../../common/files/slices.ts";
import { messageOf } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { type BodyLimits, long, parseJson, readBytes } from "../../http/body.ts";
import { oneThread } from "../../sandbox/thread.ts";
import { type PassBody, type PassKind, passBody, type ReadPass, readPassBody } from "./passBody.ts";
import { digestOf, whatIsWrong } from "./read.ts";

/** Most bytes of one pass, compressed and decompressed. */
const mostProtobuf = 32 * 2 ** 20;
/** Limits of a body with a prompt, which is at most as long as the longest context. */
const promptBody: BodyLimits = { bytes: 4 * 2 ** 20, depth: 32, values: 400_000, names: 1000 };
/** Limits of all other bodies. */
const settingsBody: BodyLimits = { bytes: 2 ** 20, depth: 32, values: 20_000, names: 1000 };
/** Most seconds to read the body of one pass. */
const longest = 60;
const unpacked = promisify(zstdDecompress);

async function bytesOf(c: Context, mostBytes: number): Promise<Uint8Array> {
  const sent = await readBytes(c.req.raw, mostBytes);
  if ("status" in sent) throw new HTTPException(sent.status, { message: sent.message });
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding === "identity") return sent.body;
  if (encoding !== "zstd") {
    throw new HTTPException(415, { message: `content-encoding: got ${encoding}, expected zstd or none.` });
  }
  try {
    return await unpacked(sent.body, { maxOutputLength: mostBytes });
  } catch (e) {
    throw new HTTPException(400, {
      message: `the body: ${messageOf(e)}, expected zstd of at most ${mostBytes} bytes.`,
    });
  }
}

export const isProtobuf = (header: string | undefined): boolean =>
  header?.startsWith(wire.protobufType) ?? false;

/** Validates a client's value. @throws HTTPException 422. */
export function fitting<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HTTPException(422, { message: whatIsWrong(parsed.error) });
}

/** The body's JSON and its bytes. @throws HTTPException if it is not JSON or exceeds the limits. */
async function jsonOf(
  c: Context,
  limits: BodyLimits,
): Promise<{ readonly json: Json; readonly bytes: Uint8Array }> {
  const bytes = await bytesOf(c, limits.bytes);
  // concurrent long bodies are parsed in separate turns of the event loop
  if (bytes.length > long) await ownTurn();
  const parsed = parseJson(bytes, limits);
  if ("json" in parsed) return { ...parsed, bytes };
  const { status, message } = parsed;
  throw new HTTPException(status === 413 ? status : 422, { message });
}

/** Reads and validates a JSON body. */
export async function read<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return fitting(schema, (await jsonOf(c, settingsBody)).json);
}

/** The same for a body with a prompt. */
export async function readPrompt<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return fitting(schema, (await jsonOf(c, promptBody)).json);
}

/** A request for a numbered operation. */
export interface Asked<T> {
  /** The parsed request, or why it is refused. */
  readonly asked: T | HTTPException;
  /** Its model and sequence number, if they could be read. */
  readonly turn: wire.Turn | undefined;
  /** Digest of the body, which tells a retry from another request. */
  readonly digest: string;
}

/** @throws HTTPException if the body is not JSON. */
export async function readAsked<S extends z.ZodType>(c: Context, schema: S): Promise<Asked<z.output<S>>> {
  const { json, bytes } = await jsonOf(c, settingsBody);
  return {
    asked: orRefusal(() => fitting(schema, json)),
    turn: wire.turn.safeParse(json).data,
    digest: digestOf(bytes),
  };
}

/** Reads forward and forward_backward bodies, in JSON or protobuf; the first long body starts a worker thread. */
export function passReader(): (c: Context, kind: PassKind) => Promise<Asked<wire.Pass>> {
  const thread = oneThread<PassBody, ReadPass>(import.meta.url, "passWorker", { seconds: longest });
  return async (c, inJson) => {
    const kind = isProtobuf(c.req.header("content-type")) ? "protobuf" : inJson;
    const bytes = await bytesOf(c, kind === "protobuf" ? mostProtobuf : passBody.bytes);
    const told = bytes.length <= long ? readPassBody({ kind, bytes }) : await thread.run({ kind, bytes });
    if ("lost" in told) {
      throw new HTTPException(413, {
        message: `the body was not read within ${longest} s. Send fewer datums at a time.`,
      });
    }
    const { read, turn, digest } = told;
    const asked = "pass" in read ? read.pass : new HTTPException(read.status, { message: read.message });
    return { asked, turn, digest };
  };
}

function orRefusal<T>(read: () => T): T | HTTPException {
  try {
    return read();
  } catch (e) {
    return e instanceof HTTPException ? e : new HTTPException(422, { message: messageOf(e) });
  }
}
