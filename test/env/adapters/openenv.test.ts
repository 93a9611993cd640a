/** Our environments over OpenEnv, and OpenEnv servers as environments: through real sockets. */
import assert from "node:assert/strict";
import { createServer as createHttpServer, get } from "node:http";
import { connect, createServer } from "node:net";
import { after, test } from "node:test";
import fc from "fast-check";
import { WebSocket as Socket, WebSocketServer } from "ws";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import { openEnv } from "../../../src/env/adapters/openenv.ts";
import type { Environment, Player } from "../../../src/env/environment.ts";
import { maze } from "../../../src/env/maze.ts";
import { serveOpenEnv } from "../../../src/serve/openenv.ts";
import { evaluate } from "../../../src/train/evaluate.ts";
import { echo } from "../../train/world.ts";

async function served(
  environment: Environment,
  more: { port?: number; sessions?: number; key?: string; names?: readonly string[] } = {},
) {
  const server = await serveOpenEnv({ environment, ...more });
  after(() => server.close());
  return server;
}

const saysItBack: Player = (_, conversation) => conversation.at(-1)!.content;
const run = (environment: Environment, agent: Player, tasks: number, split = "train") =>
  evaluate({
    environment,
    agent,
    split,
    mode: "sampled",
    tasks,
    random: randomStream(1),
    limit: (work) => work(),
  });

test("an environment played over OpenEnv is the environment", async () => {
  const { url } = await served(echo());
  const remote = await openEnv({ url });
  assert.deepEqual([remote.name, remote.summary], ["echo", "say what was said"]);
  const { result, trajectories } = await run(remote, saysItBack, 12);
  assert.equal(result.success.mean, 1);
  // each turn said back is paid 1
  assert.deepEqual(
    trajectories[0]!.turns.map((t) => t.rewards),
    [{ openenv: 1 }, { openenv: 1 }],
  );
  const wrong = await run(remote, () => "purple", 12);
  assert.equal(wrong.result.success.mean, 0);
});

test("tasks are chosen by split and index, and the turn limit holds", async () => {
  const there = maze();
  const { url } = await served(there);
  const reset = { split: "test", index: 3 };
  const remote = await openEnv({ url, splits: { test: [reset] } });
  const [task] = remote.tasks("test");
  const episode = await remote.start(task!, randomStream(1));
  const { observation } = await episode.observe();
  assert.deepEqual(
    observation.messages.slice(0, there.tasks("test")[3]!.prompt.length),
    there.tasks("test")[3]!.prompt.map(({ role, content }) => ({ role, content })),
  );
  let steps = 0;
  for (let over = false; !over; steps++)
    over = (await episode.act({ content: "wait", stop: "eos" })).end !== undefined;
  assert.equal(steps, there.limits.turns);
  await episode.close?.();
});

test("a full server is waited for, not failed", async () => {
  const { url } = await served(echo(), { sessions: 2 });
  const { result } = await run(await openEnv({ url }), saysItBack, 12);
  assert.deepEqual([result.failed, result.success.mean], [0, 1]);
});

test("room that somebody else had for a while is used again", async () => {
  const { url } = await served(echo(), { sessions: 2 });
  const remote = await openEnv({ url });
  const [one, two] = remote.tasks("train");
  const begin = () => Promise.all([one!, two!].map((task) => remote.start(task, randomStream(1))));
  const other = new WebSocket(`${url.replace("http", "ws")}/ws`);
  await new Promise((go) => other.addEventListener("open", go));
  const both = begin();
  // one of them is refused meanwhile
  await new Promise((go) => setTimeout(go, 150));
  other.close();
  for (const episode of await both) await episode.close?.();
  for (const episode of await begin()) await episode.close?.();
});

test("a server that dies costs the episodes that it was in; the run goes on once it is back", async () => {
  let server = await served(echo());
  const port = Number(new URL(server.url).port);
  const remote = await openEnv({ url: server.url, reconnectSeconds: 20 });
  let played = 0;
  const restart = async (): Promise<void> => {
    await server.close();
    server = await served(echo(), { port });
  };
  const limit = (() => {
    let tail: Promise<unknown> = Promise.resolve();
    return <T>(work: () => Promise<T>): Promise<T> => {
      const mine = tail.then(work);
      tail = mine.catch(() => undefined);
      return mine;
    };
  })();
  const dying: Environment = {
    ...remote,
    async start(task, random) {
      const episode = await remote.start(task, random);
      // in the middle of the third episode
      return ++played === 3 ? { ...episode, act: (a) => restart().then(() => episode.act(a)) } : episode;
    },
  };
  const { result } = await evaluate({
    environment: dying,
    agent: saysItBack,
    split: "train",
    mode: "sampled",
    tasks: 6,
    random: randomStream(1),
    limit,
  });
  assert.deepEqual([result.failed, result.success.n, result.success.mean], [1, 5, 1]);
});

test("a server that stays away fails each episode after its patience, and none is there to begin with: one clear line", async () => {
  const server = await served(echo());
  const remote = await openEnv({ url: server.url, reconnectSeconds: 0.2 });
  await server.close();
  const { result } = await run(remote, saysItBack, 3);
  assert.equal(result.failed, 3);
  await assert.rejects(
    openEnv({ url: server.url }),
    (e) => isWhetstoneError(e) && e.code === "environment.broken" && /an OpenEnv server/.test(e.message),
  );
});

test("a server that talks without being asked costs its episode", async () => {
  const server = createHttpServer((request, response) =>
    response.end(request.url === "/schema" ? '{"action":{}}' : "{}"),
  );
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (client) => {
    for (let i = 0; i < 1000; i++) client.send('{"type":"observation","data":{}}');
  });
  await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
  after(() => {
    for (const client of sockets.clients) client.terminate();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  const remote = await openEnv({ url, reconnectSeconds: 0 });
  const { trajectories } = await run(remote, saysItBack, 1);
  const [t] = trajectories;
  assert.ok(t?.end.kind === "failed" && /without being asked/.test(t.end.message));
});

/** What a socket answers to each of these lines. */
async function talk(
  url: string,
  lines: readonly string[],
): Promise<readonly { type: string; data: { code?: string } }[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  const got: { type: string; data: { code?: string } }[] = [];
  await new Promise((go) => socket.addEventListener("open", go));
  for (const line of lines) {
    const answered = new Promise<string>((go) =>
      socket.addEventListener("message", ({ data }) => go(String(data)), { once: true }),
    );
    socket.send(line);
    got.push(JSON.parse(await answered));
  }
  socket.close();
  return got;
}

test("every wrong message has its code, and the session goes on", async () => {
  const { url } = await served(echo());
  const got = await talk(url, [
    "{",
    "[]",
    '{"type":"dance"}',
    '{"type":"step","data":{"message":"red"}}',
    '{"type":"reset","data":{"seed":-1}}',
    '{"type":"reset","data":{"split":"nowhere"}}',
    '{"type":"reset"}',
    '{"type":"step","data":{"text":"red"}}',
    '{"type":"state"}',
    '{"type":"step","data":{"message":"red"}}',
  ]);
  assert.deepEqual(
    got.map((m) => m.data.code ?? m.type),
    [
      "INVALID_JSON",
      "UNKNOWN_TYPE",
      "UNKNOWN_TYPE",
      "EXECUTION_ERROR",
      "VALIDATION_ERROR",
      "EXECUTION_ERROR",
      "observation",
      "VALIDATION_ERROR",
      "state",
      "observation",
    ],
  );
});

test("no message ends the server", async () => {
  const { url } = await served(echo());
  const lines = fc.sample(
    fc.oneof(fc.json(), fc.string(), fc.constant('{"type":"reset","data":{"index":1e9}}')),
    {
      numRuns: 200,
      seed: 1,
    },
  );
  const got = await talk(
    url,
    lines.filter((line) => !/"close"/.test(line)),
  );
  assert.ok(got.every((m) => m.type === "error"));
  assert.equal((await fetch(`${url}/health`)).status, 200);
});

/** A request for a WebSocket, in bytes. */
const handshake = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${btoa("0123456789abcdef")}\r\n\r\n`;

/** What a connection hears until it is closed. @param hangsUp at once, without a word. */
const heard = (url: string, bytes: readonly (string | Uint8Array)[], hangsUp = false): Promise<string> =>
  new Promise((done) => {
    let text = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
      for (const part of bytes) socket.write(part);
      if (hangsUp) socket.resetAndDestroy();
    });
    socket.on("data", (data) => (text += data.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => done(text));
  });

test("no connection ends the server: a path that is none, one that hangs up, one too many that talks nonsense", async () => {
  const { url } = await served(echo(), { sessions: 1 });
  assert.match(await heard(url, [handshake("//")]), /^HTTP\/1.1 404 /);
  for (let i = 0; i < 50; i++) await heard(url, [handshake("/nowhere")], true);
  const first = new WebSocket(`${url.replace("http", "ws")}/ws`);
  await new Promise((go) => first.addEventListener("open", go));
  // no frame begins with reserved bits
  const second = await heard(url, [handshake("/ws"), Uint8Array.of(0xff, 0xff, 0xff, 0xff)]);
  assert.match(second, /CAPACITY_REACHED/);
  first.close();
  assert.equal((await fetch(`${url}/health`)).status, 200);
});

test("whoever was refused takes nobody's place, however long it stays", { timeout: 10_000 }, async () => {
  const { url } = await served(echo(), { sessions: 1 });
  const remote = await openEnv({ url, reconnectSeconds: 0 });
  const [task] = remote.tasks("train");
  const first = await remote.start(task!, randomStream(1));
  const stays = connect(Number(new URL(url).port), "127.0.0.1", () => stays.write(handshake("/ws")));
  await new Promise((go) =>
    stays.on("data", (data) => String(data).includes("CAPACITY_REACHED") && go(data)),
  );
  await first.close?.();
  const second = await remote.start(task!, randomStream(1));
  assert.ok((await second.observe()).observation.messages.length > 0);
  await second.close?.();
  stays.destroy();
});

test("who talks on before being answered is not listened to, and is answered in the end", async () => {
  const inner = echo();
  let release = (): void => undefined;
  const held = new Promise<void>((go) => (release = go));
  const { url } = await served({
    ...inner,
    start: (task, random) => held.then(() => inner.start(task, random)),
  });
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  await new Promise((go) => socket.addEventListener("open", go));
  let answers = 0;
  socket.addEventListener("message", () => answers++);
  socket.send('{"type":"reset"}');
  const long = JSON.stringify({ type: "nonsense", data: "x".repeat(900_000) });
  for (let i = 0; i < 30; i++) socket.send(long);
  // a server that read on would have it all by then
  for (let i = 0; i < 10 && socket.bufferedAmount > 0; i++) await new Promise((go) => setTimeout(go, 150));
  assert.ok(socket.bufferedAmount > 1_000_000, `${socket.bufferedAmount} bytes wait at the client`);
  release();
  while (answers < 31) await new Promise((go) => setTimeout(go, 10));
  socket.close();
});

test("other addresses need a key, and whoever lacks it stays outside", async () => {
  await assert.rejects(serveOpenEnv({ environment: echo(), host: "0.0.0.0" }), /a key/);
  await assert.rejects(serveOpenEnv({ environment: echo(), host: "0.0.0.0", key: "" }), /a key/);
  const { url } = await served(echo(), { key: "secret" });
  assert.equal((await fetch(`${url}/schema`)).status, 401);
  await assert.rejects(openEnv({ url }), /401/);
  const remote = await openEnv({ url, headers: { authorization: "Bearer secret" } });
  assert.equal((await run(remote, saysItBack, 2)).result.success.mean, 1);
});

test("a port that is taken, or is none, is one clear error", async () => {
  const taken = createServer();
  await new Promise<void>((go) => taken.listen(0, "127.0.0.1", go));
  after(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" && address ? address.port : 0;
  await assert.rejects(
    serveOpenEnv({ environment: echo(), port }),
    (e) => isWhetstoneError(e) && /another process listens on \(EADDRINUSE\)/.test(e.message),
  );
  await assert.rejects(
    serveOpenEnv({ environment: echo(), port: 99_999 }),
    (e) => isWhetstoneError(e) && /ERR_SOCKET_BAD_PORT/.test(e.message),
  );
});

test("a page of another site is no client, nor is one whose own name leads here", async () => {
  const { url } = await served(echo(), { names: ["box.local"] });
  const { port } = new URL(url);
  /** Statuses of a socket and of a plain question. */
  const asked = async (headers: Record<string, string>): Promise<readonly unknown[]> => {
    const socket = await new Promise((done) => {
      const opening = new Socket(`${url.replace("http", "ws")}/ws`, { headers });
      opening.on("open", () => {
        opening.terminate();
        done("open");
      });
      opening.on("unexpected-response", (request, { statusCode }) => {
        request.destroy();
        done(statusCode);
      });
    });
    const plain = await new Promise((done, reject) => {
      get(`${url}/schema`, { headers }, (answer) => done(answer.resume().statusCode)).on("error", reject);
    });
    return [socket, plain];
  };
  assert.deepEqual(await asked({ origin: "https://example.com" }), [403, 403]);
  assert.deepEqual(await asked({ origin: "null" }), [403, 403]);
  assert.deepEqual(await asked({ "sec-fetch-site": "cross-site" }), [403, 403]);
  assert.deepEqual(await asked({ origin: url }), ["open", 200]);
  const rebound = `evil.example:${port}`;
  assert.deepEqual(await asked({ host: rebound }), [403, 403]);
  assert.deepEqual(await asked({ host: rebound, origin: `http://${rebound}` }), [403, 403]);
  assert.deepEqual(await asked({ host: `box.local:${port}` }), ["open", 200]);
});
