/** Writes responses directly to the client's connection. The objects of fetch would cost as much as the rest of a call. */
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { Gated } from "./auth.ts";

/** A response's status, and its headers by lower-case name. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

type Body = string | Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Sends a response. A body in one piece is written when this returns; a streamed body is written chunk by chunk, and the promise
 * waits for the last chunk. Pages get a `Response`, since their middleware adds headers; so do tests without a server.
 */
export async function sendResponse(c: Context<Gated>, head: ResponseHead, body: Body): Promise<Response> {
  const outgoing = c.env?.outgoing;
  if (!outgoing || c.req.raw.headers.get("origin") !== null) return answerOf(head, body);
  const headers = { ...head.headers, "x-content-type-options": "nosniff" };
  if (typeof body === "string" || body instanceof Uint8Array) {
    outgoing.writeHead(head.status, { ...headers, "content-length": Buffer.byteLength(body) });
    outgoing.end(body);
  } else {
    outgoing.writeHead(head.status, headers);
    outgoing.flushHeaders();
    await written(outgoing, body);
  }
  return RESPONSE_ALREADY_SENT;
}

function answerOf({ status, headers }: ResponseHead, body: Body): Response {
  if (typeof body === "string") return new Response(body, { status, headers });
  // a copy with its own ArrayBuffer, as the types of fetch require
  const stream = body instanceof Uint8Array ? Uint8Array.from(body) : ReadableStream.from(body);
  return new Response(stream, { status, headers });
}

/** Writes with backpressure. A source that fails destroys the connection, so that the body does not look complete. */
async function written(outgoing: ServerResponse, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (outgoing.destroyed) return; // leaving the loop cancels the source
      if (!outgoing.write(piece)) await room(outgoing);
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

/** Waits until the connection drains or closes. */
function room(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.once("drain", done).once("close", done);
  });
}
