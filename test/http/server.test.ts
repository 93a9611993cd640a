import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { limitedServer, networkOf } from "../../src/http/server.ts";

test("too large a head is refused, and who is refused disturbs nobody", async () => {
  const server = limitedServer(() => new Response("fine"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  try {
    const said = async (text: string): Promise<string> => {
      const socket = connect(port, "127.0.0.1");
      socket.end(text);
      let answer = "";
      for await (const chunk of socket) answer += String(chunk);
      return answer.split("\r\n")[0] ?? "";
    };
    const close = "connection: close\r\n";
    assert.match(await said(`GET / HTTP/1.1\r\nhost: a\r\n${close}x: ${"y".repeat(20_000)}\r\n\r\n`), /431/);
    assert.match(await said("nonsense\r\n\r\n"), /400/);
    assert.match(await said(`GET / HTTP/1.1\r\nhost: a\r\n${close}\r\n`), /200/);
    assert.deepEqual([server.headersTimeout, server.requestTimeout], [10_000, 60_000]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test("who sends a byte now and then is given up, head or body", async () => {
  const patience = { headMs: 200, requestMs: 400 };
  const server = limitedServer(async (request) => new Response(await request.text()), patience);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  /** How long a connection lives on which no request ever ends. */
  const lived = async (begin: string): Promise<number> => {
    const began = performance.now();
    const socket = connect(port, "127.0.0.1", () => socket.write(begin));
    const dripping = setInterval(() => socket.write("x"), 50);
    socket.on("error", () => {});
    socket.resume();
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(dripping);
    return performance.now() - began;
  };
  try {
    const [head, body] = await Promise.all([
      lived("GET / HTTP/1.1\r\nhost: a\r\nx-slow: "),
      lived("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n"),
    ]);
    assert.ok(head >= 190 && head < 3000, `${head} ms`);
    assert.ok(body >= 390 && body < 3000, `${body} ms`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

const ask = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

/** A server of few connections whose answers wait until `go`, and clients of it. */
async function small(limits: { readonly connections: number; readonly perAddress?: number }) {
  const answering = Promise.withResolvers<void>();
  let asked = 0;
  const server = limitedServer(async (request) => {
    asked++;
    if (request.method === "GET") await answering.promise;
    return new Response(await request.text());
  }, limits);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  /** A client that sends this; what it hears at once, "" as long as it waits, "closed" once it is. */
  async function client(text: string, localAddress = "127.0.0.1") {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    const state = { heard: "" };
    socket.on("data", (data) => {
      state.heard = String(data).split("\r\n")[0] ?? "";
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      if (state.heard === "") state.heard = "closed";
    });
    await once(socket, "connect");
    socket.write(text);
    return state;
  }
  const until = async (what: () => boolean, why: string): Promise<void> => {
    for (let tries = 0; !what(); tries++) {
      assert.ok(tries < 300, why);
      await new Promise((next) => setTimeout(next, 10));
    }
  };
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { client, until, close, go: answering.resolve, asked: () => asked };
}

test("silent, half-sent and idle connections make room for whoever asks for something", async () => {
  const { client, until, close, asked } = await small({ connections: 4, perAddress: 4 });
  try {
    const silent = await client("");
    const head = await client("GET / HTTP/1.1\r\nhost: a\r\n");
    const body = await client("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n");
    const idle = await client("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
    await until(() => asked() === 2 && /200/.test(idle.heard), "both are read");
    for (const held of [silent, head, body]) {
      const next = await client("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx");
      await until(() => /200/.test(next.heard), `a new one is answered: ${next.heard}`);
      await until(() => held.heard === "closed", "the oldest that waits is closed");
    }
  } finally {
    close();
  }
});

test("what is being answered is not broken off: then the new one is closed", async () => {
  const { client, until, close, go, asked } = await small({ connections: 3, perAddress: 3 });
  try {
    const held = [await client(ask), await client(ask), await client(ask)];
    await until(() => asked() === 3, "three are being answered");
    const late = await client(ask);
    await until(() => late.heard === "closed", "there is no room");
    go();
    for (const one of held) await until(() => /200/.test(one.heard), one.heard);
    const next = await client(ask);
    await until(() => /200/.test(next.heard), "answered ones make room");
  } finally {
    close();
  }
});

test("one address cannot hold all connections", { skip: process.platform === "darwin" }, async () => {
  const { client, until, close, go, asked } = await small({ connections: 8 });
  try {
    const greedy: { readonly heard: string }[] = [];
    for (let i = 0; i < 8; i++) greedy.push(await client(ask));
    await until(() => asked() === 6, "three quarters are being answered");
    await until(() => greedy.filter(({ heard }) => heard === "closed").length === 2, "the rest is closed");
    const other = await client(ask, "127.0.0.2");
    await until(() => asked() === 7, "another address is asked for");
    go();
    await until(() => /200/.test(other.heard), "and answered");
  } finally {
    close();
  }
});

test("an address of IPv6 counts as its network, however it is written", () => {
  const all = ["2001:db8::1", "2001:db8:0:0:5::1", "2001:DB8::ffff:1", "2001:db8:0:0:1:2:3:4"];
  assert.deepEqual([...new Set(all.map(networkOf))], ["2001:db8:0:0"]);
  assert.equal(networkOf("2001:db8:0:1::1"), "2001:db8:0:1");
  assert.equal(networkOf("::ffff:10.0.0.1"), "10.0.0.1");
  assert.equal(networkOf("::1"), "0:0:0:0");
});
