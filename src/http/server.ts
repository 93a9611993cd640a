/** HTTP servers that no client holds up: slow ones are given up, greedy ones leave room for others. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";

export interface ServerLimits {
  /** At a time. Default 2,000. */
  readonly connections?: number;
  /** Of them, from one address. Default three quarters. */
  readonly perAddress?: number;
  /** Milliseconds until a request's head is there, counted from its first byte. Default 10 seconds. */
  readonly headMs?: number;
  /** Milliseconds until its body is there as well. Default one minute. */
  readonly requestMs?: number;
}

/**
 * An HTTP server that gives slow and greedy clients up: their time for a request is limited, its headers fit into 16 KiB, and
 * when all connections are taken, a new one takes the place of one that waits for its client. Answers may take as long as they take.
 */
export const limitedServer = (
  answer: (request: Request, env: object) => Response | Promise<Response>,
  limits: ServerLimits = {},
): Server => limitedListener(getRequestListener(answer, { overrideGlobalObjects: false }), limits);

/** The same for a listener of Node's own. */
export function limitedListener(listener: RequestListener, limits: ServerLimits = {}): Server {
  const { connections = 2000, headMs = 10_000, requestMs = 60_000 } = limits;
  const server = createServer(
    {
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(2000, headMs),
      maxHeaderSize: 16 * 1024,
      // clients that vanished without a word are found out in the end
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    },
    listener,
  );
  server.maxHeadersCount = 100;
  shareConnections(server, connections, limits.perAddress ?? Math.ceil(connections * 0.75));
  return server;
}

/** What one address holds. */
interface Client {
  /** Its connections, with the request that each is answered or read at the moment; the longest unchanged first. */
  readonly held: Map<Socket, IncomingMessage | undefined>;
}

/**
 * Takes every connection as long as there is room. Beyond that the client that holds most loses one on which it has asked for
 * nothing, or not to the end; where all are being answered, the new one is closed.
 */
function shareConnections(server: Server, most: number, perAddress: number): void {
  const clients = new Map<string, Client>();
  const owners = new WeakMap<Socket, Client>();
  let open = 0;

  function hasRoom({ held }: Client): boolean {
    if (held.size >= perAddress) return closeOldest(held);
    if (open < most) return true;
    const byShare = [...clients.values()].sort((a, b) => b.held.size - a.held.size);
    return byShare.some((client) => closeOldest(client.held));
  }
  function forget(socket: Socket): void {
    if (owners.get(socket)?.held.delete(socket)) open--;
  }
  /** @returns whether there was one that waited for its client. */
  function closeOldest(held: Client["held"]): boolean {
    for (const [socket, request] of held) {
      if (request?.complete || upgraded.has(socket)) continue;
      forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }
  function changed(socket: Socket, request: IncomingMessage | undefined): void {
    const held = owners.get(socket)?.held;
    if (held?.delete(socket)) held.set(socket, request);
  }

  server.on("connection", (socket) => {
    const name = networkOf(socket.remoteAddress ?? "");
    const client = clients.get(name) ?? { held: new Map() };
    if (!hasRoom(client)) return void socket.destroy();
    clients.set(name, client);
    owners.set(socket, client);
    client.held.set(socket, undefined);
    open++;
    socket.once("close", () => {
      forget(socket);
      if (client.held.size === 0) clients.delete(name);
    });
  });
  server.on("request", (request, response) => {
    const { socket } = request;
    changed(socket, request);
    response.once("close", () => changed(socket, undefined));
  });
}

/** Connections that went over to another protocol. */
const upgraded = new WeakSet<Duplex>();
/** What an `upgrade` listener takes over waits for nothing that HTTP knows of, and is not closed for others. */
export const keepUpgraded = (socket: Duplex): void => void upgraded.add(socket);

/** Of an IPv6 address its first 64 bits: whoever has one has the other 2^64 too. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const after = (tail ?? "").split(":").filter((group) => group !== "");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  return [...groups, ...new Array<string>(zeros).fill("0"), ...after].slice(0, 4).join(":").toLowerCase();
}
