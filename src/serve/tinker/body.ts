/** The bodies of requests, packed or not, as a schema reads them. */
import { zstdDecompressSync } from "node:zlib";
import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { readPass } from "../../engine/tinker/protobuf.ts";
import * as wire from "../../engine/tinker/protocol.ts";
import { digestOf } from "./service.ts";

/** Bytes of one body, packed and unpacked. */
const mostBytes = 64 * 2 ** 20;

async function bytesOf(c: Context): Promise<Uint8Array> {
  const stated = Number(c.req.header("content-length") ?? 0);
  if (stated > mostBytes) throw tooLarge();
  const body = new Uint8Array(await c.req.arrayBuffer());
  if (body.length > mostBytes) throw tooLarge();
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding === "identity") return body;
  if (encoding !== "zstd") {
    throw new HTTPException(415, { message: `content-encoding: got ${encoding}, expected zstd or none.` });
  }
  try {
    return zstdDecompressSync(body, { maxOutputLength: mostBytes });
  } catch (e) {
    throw new HTTPException(400, {
      message: `the body: ${messageOf(e)}, expected zstd of at most ${mostBytes} bytes.`,
    });
  }
}
const tooLarge = (): HTTPException =>
  new HTTPException(413, {
    message: `the body is longer than ${mostBytes} bytes. Send fewer datums at a time.`,
  });

export const isProtobuf = (header: string | undefined): boolean =>
  header?.startsWith(wire.protobufType) ?? false;

/** What a schema makes of a value that a client sent. @throws HTTPException 422. */
export function fitting<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HTTPException(422, { message: z.prettifyError(parsed.error) });
}

/** The body's JSON as a schema reads it. */
export async function read<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(await bytesOf(c)).toString("utf8"));
  } catch (e) {
    if (e instanceof HTTPException) throw e;
    throw new HTTPException(422, { message: `the body: ${messageOf(e)}, expected JSON.` });
  }
  return fitting(schema, value);
}

/** A pass over data, in JSON or protobuf, and a digest that tells it from another. */
export async function readForward(c: Context, schema: z.ZodType<wire.Pass>): Promise<[wire.Pass, string]> {
  if (!isProtobuf(c.req.header("content-type"))) {
    const pass = await read(c, schema);
    return [pass, digestOf(wire.passJson(pass))];
  }
  const body = await bytesOf(c);
  try {
    return [readPass(body), digestOf(body)];
  } catch (e) {
    throw new HTTPException(422, { message: messageOf(e) });
  }
}
