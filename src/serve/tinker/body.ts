/** The bodies of requests, packed or not, as a schema reads them. */
import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { readPass, readTurn } from "../../engine/tinker/protobuf.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { readBytes } from "../../http/body.ts";

/** Tells a request from another. */
export const digestOf = (body: unknown): string =>
  createHash("sha256")
    .update(body instanceof Uint8Array ? body : JSON.stringify(body))
    .digest("base64");

/** Bytes of one body, packed and unpacked. JSON becomes ten times as much in memory. */
const mostProtobuf = 64 * 2 ** 20;
const mostJson = 16 * 2 ** 20;

async function bytesOf(c: Context, mostBytes: number): Promise<Uint8Array> {
  const sent = await readBytes(c.req.raw, mostBytes);
  if ("status" in sent) throw new HTTPException(sent.status, { message: sent.message });
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding === "identity") return sent.body;
  if (encoding !== "zstd") {
    throw new HTTPException(415, { message: `content-encoding: got ${encoding}, expected zstd or none.` });
  }
  try {
    return zstdDecompressSync(sent.body, { maxOutputLength: mostBytes });
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
  throw new HTTPException(422, { message: z.prettifyError(parsed.error) });
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (e) {
    throw new HTTPException(422, { message: `the body: ${messageOf(e)}, expected JSON.` });
  }
}

/** The body's JSON as a schema reads it. */
export async function read<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return fitting(schema, jsonIn(await bytesOf(c, mostJson)));
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
  const bytes = await bytesOf(c, mostJson);
  const value = jsonIn(bytes);
  return {
    asked: orRefusal(() => fitting(schema, value)),
    turn: wire.turn.safeParse(value).data,
    digest: digestOf(bytes),
  };
}

/** A pass over data, in JSON or protobuf. */
export async function readForward(c: Context, schema: z.ZodType<wire.Pass>): Promise<Asked<wire.Pass>> {
  if (!isProtobuf(c.req.header("content-type"))) return await readAsked(c, schema);
  const bytes = await bytesOf(c, mostProtobuf);
  const asked = orRefusal(() => readPass(bytes));
  const turn = asked instanceof HTTPException ? readTurn(bytes) : asked;
  return { asked, turn, digest: digestOf(bytes) };
}

function orRefusal<T>(read: () => T): T | HTTPException {
  try {
    return read();
  } catch (e) {
    return e instanceof HTTPException ? e : new HTTPException(422, { message: messageOf(e) });
  }
}
