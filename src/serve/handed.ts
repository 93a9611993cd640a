/** Answers handed to the client: written to its connection as they come. The objects of fetch would cost as much as the rest of a call. */
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { Gated } from "./auth.ts";

/** An answer's status and headers, by lower-case name. */
export interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

type Body = string | Uint8Array | AsyncIterable<Uint8Array>;

/**
 * A body in one piece is on its way when this returns; of one in pieces, each is as soon as it is there, and the promise
 * waits for the last. Pages get a `Response`, since what answers them adds headers of its own, and so do tests that listen nowhere.
 */
export async function handed(c: Context<Gated>, head: Head, body: Body): Promise<Response> {
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

function answerOf({ status, headers }: Head, body: Body): Response {
  if (typeof body === "string") return new Response(body, { status, headers });
  // a copy that is sure to lie in memory of its own, as the types of fetch ask for
  const stream = body instanceof Uint8Array ? Uint8Array.from(body) : ReadableStream.from(body);
  return new Response(stream, { status, headers });
}

/** No faster than the client reads. What breaks off ends the connection, so that it does not look like an end. */
async function written(outgoing: ServerResponse, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (outgoing.destroyed) return; // lets whoever makes the pieces know that nobody reads on
      if (!outgoing.write(piece)) await room(outgoing);
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

/** Until there is room for more, or nobody who would take it. */
function room(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.once("drain", done).once("close", done);
  });
}
