/** HTTP servers with time and connection limits, so that slow or greedy clients do not block others. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";

/** Limits of {@link limitedServer}. */
export interface ServerLimits {
  /** Most concurrent connections. Default 2,000. */
  readonly connections?: number;
  /** Most concurrent connections from one address. Default three quarters of `connections`. */
  readonly perAddress?: number;
  /** Milliseconds to receive a request's head, from its first byte. Default 10 seconds. */
  readonly headMs?: number;
  /** Milliseconds to receive the whole request, body included. Default one minute. */
  readonly requestMs?: number;
}

/**
 * An HTTP server with limits: a request has a time limit, its headers have at most 16 KiB, and when all connections are taken,
 * a new connection replaces one that is idle. Responses have no time limit.
 */
export const limitedServer = (
  answer: (request: Request, env: object) => Response | Promise<Response>,
  limits: ServerLimits = {},
): Server => limitedListener(getRequestListener(answer, { overrideGlobalObjects: false }), limits);

/** The same for a Node request listener. */
export function limitedListener(listener: RequestListener, limits: ServerLimits = {}): Server {
  const { connections = 2000, headMs = 10_000, requestMs = 60_000 } = limits;
  const server = createServer(
    {
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(2000, headMs),
      maxHeaderSize: 16 * 1024,
      // TCP keep-alive detects clients that vanished
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    },
    listener,
  );
  server.maxHeadersCount = 100;
  shareConnections(server, connections, limits.perAddress ?? Math.ceil(connections * 0.75));
  return server;
}

/** Connections of one address. */
interface Client {
  /** Its connections, each with the request in progress; the least recently changed first. */
  readonly held: Map<Socket, IncomingMessage | undefined>;
}

/**
 * Accepts every connection while there is room. Above the limit, the client with the most connections loses one without a complete
 * request; if all its requests are being answered, the new connection is closed.
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
  /** @returns whether it closed a connection that waited for its client. */
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

/** Connections upgraded to another protocol. */
const upgraded = new WeakSet<Duplex>();
/** An upgraded socket looks idle to HTTP; this keeps it from being closed to make room. */
export const keepUpgraded = (socket: Duplex): void => void upgraded.add(socket);

/** The address itself, or an IPv6 address's first 64 bits: one client usually controls the whole /64 network. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const after = (tail ?? "").split(":").filter((group) => group !== "");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  return [...groups, ...new Array<string>(zeros).fill("0"), ...after].slice(0, 4).join(":").toLowerCase();
}
