/** One client that opens as many connections as it can and says nothing, while another asks. */
import { connect, type Socket } from "node:net";
import { request as ask } from "undici";
import type { FuzzedServer } from "./servers.ts";

export interface Crowd {
  readonly opened: number;
  /** Of them, open at the end. */
  readonly held: number;
  /** Milliseconds until the other was answered; nothing where it was not. */
  readonly answeredMs?: number;
}

export async function crowd(server: FuzzedServer, count: number): Promise<Crowd> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect({ port: server.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.resume(); // or its end is not heard of
    await new Promise((next) => socket.once("connect", next).once("close", next));
    // half of them begin to ask
    if (i % 2 === 0) socket.write("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n");
    sockets.push(socket);
  }
  const [good] = server.good;
  const began = performance.now();
  try {
    const answer = await ask(`http://127.0.0.1:${server.port}${good!.path}`, {
      method: good!.body ? "POST" : "GET",
      headers: { ...good!.headers, ...(good!.body && { "content-type": "application/json" }) },
      ...(good!.body && { body: JSON.stringify(good!.body) }),
      reset: true,
      signal: AbortSignal.timeout(20_000),
    });
    await answer.body.dump();
    if (answer.statusCode !== good!.status) return { opened: count, held: heldOf(sockets) };
    return { opened: count, held: heldOf(sockets), answeredMs: performance.now() - began };
  } catch {
    return { opened: count, held: heldOf(sockets) };
  } finally {
    for (const socket of sockets) socket.resetAndDestroy();
  }
}

const heldOf = (sockets: readonly Socket[]): number =>
  sockets.filter(({ closed, readyState }) => !closed && readyState === "open").length;
