import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Hono } from "hono";
import { z } from "zod";
import { WhetstoneError } from "../../src/core/errors.ts";
import { failed } from "../../src/serve/failed.ts";
import { traces } from "../../src/serve/otlp.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";

const spans = readFileSync(join(import.meta.dirname, "../exchange/spans/ai-sdk.json"), "utf8");
let folder: string;
let production: TrafficStore;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "whetstone-otlp-"));
  production = await openTrafficStore(join(folder, "store.sqlite"));
});
after(async () => {
  await production.close();
  await rm(folder, { recursive: true, force: true });
});

const gate = { allow: () => async (_c: unknown, next: () => Promise<void>) => next(), now: () => 7 };
const read = z.object({
  partialSuccess: z.object({ rejectedSpans: z.number(), errorMessage: z.string() }).optional(),
  error: z.looseObject({ code: z.string() }).optional(),
});
async function post(body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) {
  const response = await traces({ production, gate }).request("/v1/traces", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, json: read.parse(await response.json()) };
}

test("an agent's spans are one trajectory, on disk once they are acknowledged, and once however often they are sent", async () => {
  for (const body of [spans, gzipSync(spans)]) {
    const sent = await post(
      typeof body === "string" ? body : Uint8Array.from(body),
      typeof body === "string" ? {} : { "content-encoding": "gzip" },
    );
    assert.equal(sent.status, 200);
    assert.deepEqual(sent.json, {
      partialSuccess: {
        rejectedSpans: 3,
        errorMessage: "Left out: 3 spans are of no model, tool or retriever.",
      },
    });
    const stored = await Array.fromAsync(production.responses());
    assert.deepEqual(
      stored.map(({ id, turn, origin, version }) => [id, turn, origin, version]),
      [
        ["resp-1", 0, "otlp", "otlp:mock-model"],
        ["resp-2", 1, "otlp", "otlp:mock-model"],
      ],
    );
    assert.equal(stored[0]!.trajectory, stored[1]!.trajectory);
  }
});

test("spans that could not be written stand where they stood when they are sent again", async () => {
  const store = await openTrafficStore(join(folder, "again.sqlite"));
  let full = true;
  const lines: string[] = [];
  const routes = traces({
    gate,
    production: {
      ...store,
      write: async (batch) => {
        if (!full) return store.write(batch);
        const [got, expected, fix] = ["a full disk", "room", "Free some."];
        throw new WhetstoneError("store.full", { where: "store", got, expected, fix });
      },
    },
  });
  const app = new Hono().route("/", routes).onError(failed((line) => lines.push(line)));
  const send = () =>
    app.request("/v1/traces", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: spans,
    });
  assert.equal((await send()).status, 507);
  assert.deepEqual(lines, ["POST /v1/traces: store: got a full disk, expected room. Free some."]);
  full = false;
  assert.equal((await send()).status, 200);
  const stored = await Array.fromAsync(store.responses());
  assert.deepEqual(
    stored.map(({ trajectory, turn }) => [trajectory.split("/").at(-1), turn]),
    [
      ["0", 0],
      ["0", 1],
    ],
  );
  await store.close();
});

test("protobuf is taken and answered in protobuf, gzipped or not; what is none is refused in protobuf", async () => {
  const store = await openTrafficStore(join(folder, "protobuf.sqlite"));
  const bytes = readFileSync(join(import.meta.dirname, "../exchange/spans/openinference.bin"));
  const app = traces({ production: store, gate });
  const send = (body: Buffer, headers: Readonly<Record<string, string>> = {}) =>
    app.request("/v1/traces", {
      method: "POST",
      headers: { "content-type": "application/x-protobuf", ...headers },
      body: Uint8Array.from(body),
    });
  for (const sent of [await send(bytes), await send(gzipSync(bytes), { "content-encoding": "gzip" })]) {
    assert.equal(sent.status, 200);
    assert.equal(sent.headers.get("content-type"), "application/x-protobuf");
    assert.match(
      Buffer.from(await sent.arrayBuffer()).toString(),
      /Left out: 1 spans are of no model, tool or retriever\.$/,
    );
  }
  const stored = await Array.fromAsync(store.responses({ user: "ann" }));
  assert.deepEqual(
    stored.map(({ id, session, turn }) => [id, session, turn]),
    [
      ["resp-1", "chat-7", 0],
      ["resp-2", "chat-7", 1],
    ],
  );
  const traced = await Array.fromAsync(store.traced({ session: "chat-7", user: "ann" }));
  assert.deepEqual(
    traced.map(({ kind, name, input, output }) => [kind, name, input, output]),
    [
      ["retrieval", "shelf", "door", '[{"document":{"content":"doors are red","id":"d1","score":0.5}}]'],
      ["tool", "look", '{"at":"door"}', "a red door"],
    ],
  );
  assert.equal((await store.erase({ user: "ann" })).traced, 2);
  const refused = await send(Buffer.from("x"));
  assert.equal(refused.status, 400);
  assert.equal(refused.headers.get("content-type"), "application/x-protobuf");
  assert.match(Buffer.from(await refused.arrayBuffer()).toString(), /not an ExportTraceServiceRequest/);
  await store.close();
});

test("other encodings, other JSON and broken gzip are refused with a fix", async () => {
  const refused = [
    await post("x", { "content-type": "text/plain" }),
    await post(spans, { "content-encoding": "br" }),
    await post("{}"),
    await post("{"),
    await post(spans, { "content-encoding": "gzip" }),
  ];
  assert.deepEqual(
    refused.map(({ status, json }) => [status, json.error?.code]),
    [
      [415, "not_json"],
      [415, "unknown_encoding"],
      [400, "invalid_spans"],
      [400, "invalid_json"],
      [400, "body_broke_off"],
    ],
  );
});

test("spans of what was erased are left out and counted", async () => {
  const [first] = await Array.fromAsync(production.responses());
  await production.erase({ session: first!.session });
  const sent = await post(spans);
  assert.equal(sent.status, 200);
  assert.equal(sent.json.partialSuccess?.rejectedSpans, 6);
  assert.deepEqual(await Array.fromAsync(production.responses()), []);
});

const span = (n: number, more: object = {}) => ({
  traceId: "t".repeat(32),
  spanId: `span-${n}`,
  name: "chat",
  startTimeUnixNano: "1790000000000000000",
  endTimeUnixNano: "1790000001000000000",
  attributes: [
    { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
    { key: "gen_ai.response.id", value: { stringValue: `malformed-${n}` } },
  ],
  ...more,
});
const requestOf = (spans: readonly unknown[]): string =>
  JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

test("malformed spans are refused: alone with 400, among others by number and reason", async () => {
  const alone = await post(requestOf([{ name: "chat" }]));
  assert.equal(alone.status, 400);
  assert.match(
    JSON.stringify(alone.json.error),
    /1 span is malformed.*spans\.0: expected a traceId.*Nothing was stored/,
  );
  const among = await post(requestOf([span(1), { name: "chat" }, span(2, { startTimeUnixNano: "x" })]));
  assert.equal(among.status, 200);
  assert.equal(among.json.partialSuccess?.rejectedSpans, 2);
  assert.match(among.json.partialSuccess?.errorMessage ?? "", /2 spans are malformed, the first: .*spans\.1/);
  assert.ok(await production.response("malformed-1"));
});

test("a long request is read in a thread, with the same outcome", async () => {
  const long = { key: "gen_ai.input.messages", value: { stringValue: "" } };
  long.value.stringValue = JSON.stringify(
    Array.from({ length: 20_000 }, (_, k) => ({
      role: "user",
      parts: [{ type: "text", content: `said ${k}` }],
    })),
  );
  const sent = await post(requestOf([span(3, { attributes: [...span(3).attributes, long] }), {}]));
  assert.equal(sent.json.partialSuccess?.rejectedSpans, 1);
  assert.equal((await production.response("malformed-3"))?.prompt.length, 20_000);
  const bad = await post(`{"resourceLogs":[${'"x",'.repeat(100_000)}"x"]}`);
  assert.deepEqual([bad.status, bad.json.error?.code], [400, "invalid_spans"]);
  const many = await post(`{"resourceSpans":[${"1,".repeat(600_000)}1]}`);
  assert.deepEqual([many.status, many.json.error?.code], [413, "too_many_values"]);
});

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

test("a span that no store takes costs the others of its request nothing", async () => {
  const store = await openTrafficStore(join(folder, "hostile.sqlite"));
  const send = (spans: readonly unknown[]) =>
    traces({ production: store, gate }).request("/v1/traces", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: requestOf(spans),
    });
  const hostile = [
    { session: "s".repeat(5000) },
    { session: "s".repeat(512) }, // the names of its trajectories are longer
    { session: "nul \0" },
    { session: "half \ud800" },
    { id: "i".repeat(600) },
    { model: "m".repeat(600) },
  ].map(({ session = "s", id = "", model = "m" }, i) => ({
    ...span(100 + i),
    attributes: [
      attribute("gen_ai.operation.name", "chat"),
      attribute("session.id", session),
      attribute("gen_ai.response.id", id || `hostile-${i}`),
      attribute("gen_ai.request.model", model),
    ],
  }));
  const tool = { ...span(200), attributes: [attribute("gen_ai.tool.name", "t".repeat(600))] };
  const sent = await send([span(90, { traceId: "a" }), ...hostile, tool, span(91, { traceId: "b" })]);
  assert.equal(sent.status, 200);
  const { partialSuccess } = read.parse(await sent.json());
  assert.equal(partialSuccess?.rejectedSpans, 7);
  assert.match(partialSuccess?.errorMessage ?? "", /7 spans .*session: got 5000 characters/);
  const stored = await Array.fromAsync(store.responses());
  assert.deepEqual(
    stored.map(({ id }) => id),
    ["malformed-90", "malformed-91"],
  );
  const alone = await send([hostile[0]]);
  assert.equal(alone.status, 400);
  await store.close();
});

test("JSON in an attribute that is nested too deeply stays a text", async () => {
  const said = `[{"role":"user","content":"hi","tool_calls":[{"name":"f","arguments":${deep}}]}]`;
  const sent = await post(
    requestOf([
      span(300, {
        attributes: [
          attribute("gen_ai.response.id", "deep"),
          attribute("gen_ai.request.model", "m"),
          attribute("llm.invocation_parameters", `{"a":${deep}}`),
          attribute("gen_ai.request.stop", deep),
          attribute("gen_ai.input.messages", said),
        ],
      }),
    ]),
  );
  assert.equal(sent.status, 200);
  assert.ok(await production.response("deep"));
});

test("requests that are small until they are unpacked do not fill the memory", async () => {
  const bomb = Uint8Array.from(gzipSync(Buffer.alloc(20 * 2 ** 20 - 1)));
  const app = traces({ production, gate });
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 1);
  const answers = await Promise.all(
    Array.from({ length: 24 }, async () => {
      const headers = { "content-type": "application/x-protobuf", "content-encoding": "gzip" };
      const { status } = await app.request("/v1/traces", { method: "POST", headers, body: bomb });
      return status;
    }),
  );
  clearInterval(watch);
  assert.deepEqual([...new Set(answers)], [400]);
  assert.ok(most < 200 * 2 ** 20, `${Math.round(most / 2 ** 20)} MiB`);
});

test("who sends more than can wait is told when to come again", async () => {
  const app = traces({ production, gate });
  const body = new Uint8Array(20 * 2 ** 20).fill(0x0b);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      app.request("/v1/traces", {
        method: "POST",
        headers: { "content-type": "application/x-protobuf", "content-length": String(body.length) },
        body,
      }),
    ),
  );
  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0 && busy.length < 12, `${busy.length}`);
  assert.equal(busy[0]!.headers.get("retry-after"), "1");
});
