/** A network between a client and a server that can go wrong in every way at once. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../src/core/random.ts";
import { bound } from "../../src/http/bound.ts";

/** Shares of requests, each in [0, 1], together at most 1. */
export interface Weather {
  /** The request never arrives. */
  readonly lost?: number;
  /** It arrives, its answer does not. */
  readonly unheard?: number;
  readonly doubled?: number;
  /** The answer comes 50 to 250 ms late. */
  readonly delayed?: number;
  /** Half of the answer arrives. */
  readonly cut?: number;
  /** Refused with 429, 500, 502 or 503 without being heard. */
  readonly refused?: number;
}

export const calm: Weather = {};

export interface Network {
  readonly url: string;
  weather: Weather;
  /** The result of the next call of this path is never ready; undefined: all are. */
  endless: string | undefined;
  /** How often each went wrong. */
  readonly faults: Readonly<Record<string, number>>;
  /** Once so many calls of this path have come from now on, and before the last of them is passed on. */
  came(path: string, count: number): Promise<void>;
  close(): Promise<void>;
}

const storms = [429, 500, 502, 503] as const;

/** @param upstream the server's address. */
export async function openNetwork(upstream: string, random: Random): Promise<Network> {
  const faults: Record<string, number> = {};
  const held = new Set<string>();
  const hear = new Set<(path: string) => void>();
  const count = (name: string): void => {
    faults[name] = (faults[name] ?? 0) + 1;
  };

  async function forward(request: IncomingMessage, body: Buffer): Promise<[Response, Buffer]> {
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" && !/^(host|connection|content-length|transfer-encoding)$/.test(name)
        ? [[name, value] as const]
        : [],
    );
    const answer = await fetch(upstream + request.url, {
      method: request.method ?? "GET",
      headers: Object.fromEntries(headers),
      ...(request.method === "POST" && { body: Uint8Array.from(body) }),
    });
    return [answer, Buffer.from(await answer.arrayBuffer())];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    const path = request.url?.split("/").at(-1) ?? "";
    for (const heard of hear) heard(path);
    if (path === "retrieve_future" && held.has(JSON.parse(body.toString()).request_id)) {
      await pause(20);
      response.writeHead(408, { "Content-Type": "application/json" }).end('{"detail":"still waiting"}');
      return;
    }
    const fate = fateOf(network.weather, random.next());
    if (fate) count(fate);
    if (fate === "lost") return void request.socket.destroy();
    if (fate === "refused") {
      const status = storms[Math.floor(storms.length * random.next())] ?? 503;
      response.writeHead(status, { "Content-Type": "application/json" }).end('{"detail":"a storm"}');
      return;
    }
    if (fate === "doubled") await forward(request, body);
    const [answer, bytes] = await forward(request, body);
    if (fate === "unheard") return void request.socket.destroy();
    if (fate === "delayed") await pause(50 + 200 * random.next());
    if (path === network.endless && answer.ok) {
      network.endless = undefined;
      held.add(JSON.parse(bytes.toString()).request_id);
      count("endless");
    }
    const type = answer.headers.get("Content-Type");
    response.writeHead(answer.status, {
      ...(type && { "Content-Type": type }),
      "Content-Length": bytes.length,
    });
    if (fate !== "cut" || bytes.length < 2) return void response.end(bytes);
    response.write(bytes.subarray(0, bytes.length >> 1), () => request.socket.destroy());
  }

  // a server that is not there is a connection that is lost
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  const network: Network = {
    url: await bound(server, "127.0.0.1", 0),
    weather: calm,
    endless: undefined,
    faults,
    came: (path, count) =>
      new Promise((resolve) => {
        let left = count;
        hear.add(function heard(came) {
          if (came !== path || --left > 0) return;
          hear.delete(heard);
          resolve();
        });
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return network;
}

/** Which of the faults a draw from [0, 1) falls on. */
export function fateOf(weather: Weather, draw: number): keyof Weather | undefined {
  let at = 0;
  for (const name of ["lost", "unheard", "doubled", "delayed", "cut", "refused"] as const) {
    at += weather[name] ?? 0;
    if (draw < at) return name;
  }
  return undefined;
}
