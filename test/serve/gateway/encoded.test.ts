/** Upstreams that compress although they were asked not to. */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import {
  brotliCompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { before, scripted, world } from "./world.ts";

const answer = JSON.stringify({
  id: "x",
  choices: [{ index: 0, message: { role: "assistant", content: "grüezi" }, finish_reason: "stop" }],
});
const chat = (url: string, stream = false) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ stream, messages: [{ role: "user", content: "hello" }] }),
  });
const json = (encoding: string) => ({ "content-type": "application/json", "content-encoding": encoding });

const whole = {
  gzip: gzipSync,
  "X-GZIP": gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
  // as some servers understand the word
  " deflate": deflateRawSync,
};

test("what an upstream compresses is read, recorded and handed on as it was before", async () => {
  for (const [encoding, compress] of Object.entries(whole)) {
    for (const status of [200, 429]) {
      const g = await before((_, response) =>
        response.writeHead(status, json(encoding)).end(compress(Buffer.from(answer))),
      );
      const got = await chat(g.url);
      assert.deepEqual([got.status, got.headers.get("content-encoding")], [status, null], encoding);
      const id = status === 200 ? (got.headers.get("x-whetstone-response") ?? "") : "x";
      assert.equal(await got.text(), answer.replace('"x"', JSON.stringify(id)), encoding);
      const [response] = await g.recorded(1);
      assert.equal(response?.choices[0]?.message.content, status === 200 ? "grüezi" : undefined);
      await g.close();
    }
  }
});

test("an upstream's models are read however they are compressed, and no further than a list is long", async () => {
  const list = JSON.stringify({ data: [{ id: "a model" }] });
  const bomb = gzipSync(Buffer.alloc(64 << 20, " "));
  let body = gzipSync(list);
  const behind = await scripted((_, response) => response.writeHead(200, json("gzip")).end(body));
  const g = await world({ main: upstream({ url: behind.url }) });
  const models = async () => (await fetch(`${g.url}/v1/models`)).text();
  assert.match(await models(), /"a model"/);
  body = bomb;
  assert.match(await models(), /"data":\[\]/);
  await g.close();
  await behind.close();
});

const streams = {
  gzip: createGzip,
  br: createBrotliCompress,
  zstd: createZstdCompress,
  deflate: createDeflate,
};

test("events that come compressed are handed on one by one, as they come", async () => {
  const event = (content: string, finish: string | null) =>
    `data: ${JSON.stringify({ id: "x", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
  for (const [encoding, compressor] of Object.entries(streams)) {
    let goOn = (): void => {};
    const g = await before(async (_, response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": encoding });
      const out = compressor();
      out.pipe(response);
      out.write(event("one", null));
      out.flush();
      await new Promise<void>((go) => {
        goOn = go;
      });
      out.end(`${event(" two", "stop")}data: [DONE]\n\n`);
    });
    const got = await chat(g.url, true);
    const pieces: string[] = [];
    for await (const bytes of got.body!) {
      pieces.push(Buffer.from(bytes).toString());
      goOn();
    }
    assert.ok(pieces.length > 1 && pieces[0]?.includes("one") && !pieces[0].includes("two"), encoding);
    assert.match(pieces.join(""), /two.*\[DONE\]/s);
    const [response] = await g.recorded(1);
    assert.deepEqual([response?.choices[0]?.message.content, response?.status], ["one two", "complete"]);
    await g.close();
  }
});

test("what expands without an end, breaks off, is damaged or unknown costs its own call", async () => {
  const bomb = gzipSync(Buffer.alloc(200 << 20));
  const line = gzipSync(Buffer.from(`data: ${"a".repeat(64 << 20)}`));
  const gzipped = gzipSync(answer);
  const damaged = Buffer.from(gzipped);
  damaged[20]! ^= 0xff;
  const cases: readonly (readonly [string, string, Buffer, RegExp])[] = [
    ["application/json", "gzip", bomb, /an answer of more than 67108864 bytes/],
    ["text/event-stream", "gzip", line, /an event of more than 16777216 bytes/],
    // nothing comes of it, however long it goes on
    ["application/json", "gzip", Buffer.alloc(70 << 20, gzipSync("")), /more than 67108864 bytes/],
    ["application/json", "gzip", gzipped.subarray(0, 40), /unexpected end of file/],
    ["application/json", "br", Buffer.from(answer), /ERR_|[Dd]ecompress/],
    ["application/json", "gzip", damaged, /invalid|incorrect/],
    ["application/json", "gzip, br", gzipped, /the content encoding "gzip, br"/],
    ["application/json", "compress", gzipped, /the content encoding "compress"/],
  ];
  for (const [type, encoding, body, why] of cases) {
    const g = await before((_, response) =>
      response.writeHead(200, { "content-type": type, "content-encoding": encoding }).end(body),
    );
    const got = await chat(g.url, type === "text/event-stream");
    const text = await got.text().catch(() => "broke off");
    assert.ok(got.status === 502 || text === "broke off", `${encoding} ${got.status}`);
    const [response] = await g.recorded(1);
    assert.notEqual(response?.status, "complete");
    assert.match(response?.error ?? "", why);
    await g.close();
  }
});
