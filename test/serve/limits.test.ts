import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { isDeeper, limitedServer, readJson, tokenBuckets } from "../../src/serve/limits.ts";

const limits = { bytes: 100, depth: 3 };
const post = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
): Request =>
  new Request("http://localhost/", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });
const outcome = async (request: Request) => {
  const read = await readJson(request, limits);
  return "json" in read ? read.json : read.code;
};

test("a body is read as JSON in UTF-8, within its limits", async () => {
  assert.deepEqual(await outcome(post('{"a":"ä"}', { "content-type": "application/json; charset=utf-8" })), {
    a: "ä",
  });
  assert.equal(await outcome(post("x".repeat(101))), "body_too_large");
  assert.equal(await outcome(post("12", { "content-length": "101" })), "body_too_large");
  assert.equal(await outcome(post(Uint8Array.of(0x22, 0xff, 0x22))), "invalid_utf8");
  assert.equal(await outcome(post("[[[[1]]]]")), "too_deep");
  assert.equal(await outcome(post("[[[1]]")), "invalid_json");
  assert.equal(await outcome(post("1", { "content-type": "text/plain" })), "not_json");
});

test("of a body without a stated length no more is read than it may have", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(out) {
      pulled++;
      out.enqueue(new Uint8Array(40));
    },
  });
  assert.equal(await outcome(post(endless)), "body_too_large");
  assert.ok(pulled < 10, `${pulled} chunks`);
  const broken = new ReadableStream({ pull: (out) => out.error(new Error("gone")) });
  assert.equal(await outcome(post(broken)), "body_broke_off");
});

test("brackets within strings nest nothing", () => {
  assert.equal(isDeeper('{"a":"[[[[\\"[[["}', 1), false);
  assert.equal(isDeeper('[{"a":[]}]', 3), false);
  assert.equal(isDeeper('[{"a":[]}]', 2), true);
  assert.equal(isDeeper("[],[],[],[]", 1), false);
});

test("a bucket holds its burst and refills at its rate", () => {
  const buckets = tokenBuckets({ perSecond: 2, burst: 3 });
  const take = (now: number) => buckets.take("a", now);
  assert.deepEqual([take(0), take(0), take(0)], [0, 0, 0]);
  // empty: the next token is there after 1 / 2 s
  assert.equal(take(0), 0.5);
  assert.equal(take(250), 0.25);
  assert.equal(take(500), 0);
  assert.equal(buckets.take("b", 0), 0);
  // after a long pause no more than the burst; a clock that goes back gives nothing
  assert.deepEqual([take(1e6), take(1e6), take(1e6), take(1e6)], [0, 0, 0, 0.5]);
  assert.equal(take(0), 0.5);
});

test("ten thousand strangers take no more room than the hundred that are remembered", () => {
  const buckets = tokenBuckets({ perSecond: 1, burst: 1 }, 100);
  for (let i = 0; i < 10_000; i++) buckets.take(`address ${i}`, i);
  assert.equal(buckets.size, 100);
  // one that keeps coming is not forgotten for it
  for (let i = 0; i < 1000; i++) {
    buckets.take(`other ${i}`, 10_000);
    if (i > 0) assert.ok(buckets.take("greedy", 10_000) > 0);
    else buckets.take("greedy", 10_000);
  }
});

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
