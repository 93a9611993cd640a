/** The bodies of requests, packed or not, as a schema reads them. */
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

/** Bytes of one pass, packed and unpacked. */
const mostProtobuf = 32 * 2 ** 20;
/** Prompts, of which none is longer than the longest context. */
const promptBody: BodyLimits = { bytes: 4 * 2 ** 20, depth: 32, values: 400_000, names: 1000 };
/** All else. */
const settingsBody: BodyLimits = { bytes: 2 ** 20, depth: 32, values: 20_000, names: 1000 };
/** Seconds for the body of one pass. */
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

/** What a schema makes of a value that a client sent. @throws HTTPException 422. */
export function fitting<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HTTPException(422, { message: whatIsWrong(parsed.error) });
}

/** The body's JSON, and its bytes. @throws HTTPException where it is none, or beyond the limits. */
async function jsonOf(
  c: Context,
  limits: BodyLimits,
): Promise<{ readonly json: Json; readonly bytes: Uint8Array }> {
  const bytes = await bytesOf(c, limits.bytes);
  // of several that came at once, each is parsed in a turn of its own
  if (bytes.length > long) await ownTurn();
  const parsed = parseJson(bytes, limits);
  if ("json" in parsed) return { ...parsed, bytes };
  const { status, message } = parsed;
  throw new HTTPException(status === 413 ? status : 422, { message });
}

/** The body's JSON as a schema reads it. */
export async function read<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return fitting(schema, (await jsonOf(c, settingsBody)).json);
}

/** The same of a body that holds a prompt. */
export async function readPrompt<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return fitting(schema, (await jsonOf(c, promptBody)).json);
}

/** A request for a numbered operation. */
export interface Asked<T> {
  /** What it asks for, or why that is refused. */
  readonly asked: T | HTTPException;
  /** Which number it has of which model, where that can be told. */
  readonly turn: wire.Turn | undefined;
  /** Tells it from another. */
  readonly digest: string;
}

/** @throws HTTPException where the body is no JSON. */
export async function readAsked<S extends z.ZodType>(c: Context, schema: S): Promise<Asked<z.output<S>>> {
  const { json, bytes } = await jsonOf(c, settingsBody);
  return {
    asked: orRefusal(() => fitting(schema, json)),
    turn: wire.turn.safeParse(json).data,
    digest: digestOf(bytes),
  };
}

/** Reads passes over data, in JSON or protobuf; its thread is started by the first long one. */
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
