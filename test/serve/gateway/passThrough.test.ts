/** Calls of other paths, in a whole server with a store: OpenAI's own client uploads, speaks and draws through the gateway. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer as netServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import OpenAI, { toFile } from "openai";
import type { TracedCall } from "../../../src/core/served.ts";
import { openVersion, versionOf } from "../../../src/serve/gateway/open.ts";
import { counted, ownNames } from "../../../src/serve/gateway/passThrough.ts";
import { serveProduction } from "../../../src/serve/gateway/server.ts";
import { upstream } from "../../../src/serve/gateway/upstream.ts";
import { liveVersions } from "../../../src/serve/gateway/versions.ts";
import { mintKey } from "../../../src/serve/keys.ts";
import type { SessionBody, SessionsBody } from "../../../src/serve/records.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { recorder } from "../../../src/store/recorder.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-passing-"));
const sound = randomBytes(300_000);

/** What the provider got: method, path with query, headers, bytes. */
const got: { line: string; headers: IncomingMessage["headers"]; bytes: Buffer }[] = [];
const provider = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return response.destroy(); // the gateway ended the call
  }
  const line = `${request.method} ${request.url}`;
  got.push({ line, headers: request.headers, bytes: Buffer.concat(chunks) });
  const json = (status: number, body: object): unknown =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (line === "POST /v1/audio/speech")
    return response.writeHead(200, { "content-type": "audio/mpeg" }).end(sound);
  if (line === "POST /v1/files") return json(200, { id: "file-1", object: "file", bytes: 5 });
  if (line === "DELETE /v1/files/file-1") return json(200, { id: "file-1", deleted: true });
  if (line.startsWith("GET /v1/files/file-1/content"))
    return response
      .writeHead(206, {
        "content-type": "text/plain",
        "content-disposition": "attachment",
        "content-range": "bytes 0-1/5",
      })
      .end("he");
  if (line === "POST /v1/images/generations") return json(200, { created: 1, data: [{ b64_json: "eA==" }] });
  if (line === "GET /v1/models/m") return json(200, { id: "m", object: "model" });
  if (line === "DELETE /v1/nothing") return response.writeHead(204).end();
  if (line === "GET /v1/page")
    return response.writeHead(200, { "content-type": "text/html" }).end("<script>alert(1)</script>");
  if (line === "GET /v1/slow") {
    response.writeHead(200, { "content-type": "text/plain" });
    return response.write("a");
  }
  return json(404, { error: { message: "no such path" } });
}).listen(0, "127.0.0.1");
await once(provider, "listening");
const upstreamUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;

const production = await openTrafficStore(join(folder, "store.sqlite"));
const writing = recorder(production);
await production.addVersion(versionOf({ kind: "upstream", url: upstreamUrl, keyEnv: "KEY" }, 0));
const versions = await liveVersions({
  production,
  open: (one) => openVersion(one, { environment: { KEY: "operators-key" } }),
});
const parts = { production, recorder: writing, versions, signing: randomBytes(32) };
const server = await serveProduction({ ...parts, passThrough: true });
const shut = await serveProduction(parts);
after(async () => {
  await Promise.all([server.close(), shut.close()]);
  await versions.close();
  await writing.close();
  await production.close();
  provider.closeAllConnections();
  provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Made before the first call: servers keep the keys that they have read for two seconds. */
let keys = 0;
async function keyWith(more: Partial<Parameters<typeof mintKey>[0]> = {}): Promise<string> {
  const { secret, key } = mintKey({ label: `k${++keys}`, scopes: ["chat"], ...more }, Date.now());
  await production.putKey(key);
  return secret;
}
const whole = await keyWith();
const reading = await keyWith({ scopes: ["read"] });
const narrowed = await keyWith({ scopes: ["read"], only: { session: "files-only" } });
const lesser = [
  [await keyWith({ only: { session: "s1" } }), "narrowed_key"],
  [await keyWith({ only: { user: "ann" } }), "narrowed_key"],
  [await keyWith({ budget: { usd: 100, per: "month" } }), "no_price"],
  [await keyWith({ scopes: ["feedback"] }), "out_of_scope"],
] as const;
async function recorded(): Promise<readonly TracedCall[]> {
  await writing.flush();
  return await Array.fromAsync(production.traced({}));
}
const lastOf = async (): Promise<TracedCall> => (await recorded()).at(-1)!;
const code = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { code: string } }).error.code;

test("OpenAI's client uploads, speaks, draws and deletes, and each call is recorded without its contents", async () => {
  const client = new OpenAI({
    apiKey: whole,
    baseURL: `${server.url}/user/ann/session/s1/v1`,
    maxRetries: 0,
  });
  const file = await client.files.create({
    purpose: "user_data",
    file: await toFile(Buffer.from("hello"), "a.txt"),
  });
  assert.equal(file.id, "file-1");
  const upload = got.at(-1)!;
  assert.match(String(upload.headers["content-type"]), /^multipart\/form-data; boundary=/);
  assert.ok(upload.bytes.includes("hello"));
  const upload1 = await lastOf();
  assert.deepEqual(
    [upload1.kind, upload1.name, upload1.session, upload1.user, upload1.error],
    ["passed", "POST /v1/files", "s1", "ann", undefined],
  );
  assert.equal(upload1.input ?? upload1.output, undefined);
  assert.equal(upload1.tags["whetstone.status"], "200");
  assert.match(upload1.tags["whetstone.bytes"]!, new RegExp(`^${upload.bytes.length} in, \\d+ out$`));

  const speech = await client.audio.speech.create({ model: "tts", voice: "alloy", input: "hello" });
  assert.ok(Buffer.from(await speech.arrayBuffer()).equals(sound));
  assert.equal((await lastOf()).tags["whetstone.bytes"]?.split(", ")[1], `${sound.length} out`);
  const image = await client.images.generate({ model: "i", prompt: "a cat" });
  assert.equal(image.data?.[0]?.b64_json, "eA==");
  assert.equal((await client.models.retrieve("m")).id, "m");
  assert.equal((await client.files.delete("file-1")).deleted, true);
  assert.equal(server.state().passed, 5);
  // the operator's key, and never ours
  for (const { headers } of got) {
    assert.equal(headers.authorization, "Bearer operators-key");
    assert.ok(!JSON.stringify(headers).includes("wst_"));
  }
});

test("a session of such calls alone is in the list and opens, but not for a key that is narrowed to it", async () => {
  const asking = { headers: { authorization: `Bearer ${whole}` }, method: "DELETE" };
  await fetch(`${server.url}/session/files-only/v1/nothing`, asking);
  await recorded();
  const read = async (path: string, key: string) =>
    await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const { sessions } = (await (await read("/v1/sessions?preview=true", reading)).json()) as SessionsBody;
  assert.equal(sessions.find(({ id }) => id === "files-only")?.responses, 0);
  const body = (await (await read("/v1/sessions/files-only", reading)).json()) as SessionBody;
  assert.deepEqual(
    [body.trajectories, body.cuts, body.traced.map(({ name }) => name)],
    [[], 0, ["DELETE /v1/nothing"]],
  );
  assert.equal((await read("/v1/sessions/files-only", narrowed)).status, 404);
});

test("parts of files, answers without a body, and the provider's errors pass", async () => {
  const part = await fetch(`${server.url}/v1/files/file-1/content?as=text`, {
    headers: { range: "bytes=0-1" },
  });
  assert.deepEqual(
    [
      part.status,
      part.headers.get("content-disposition"),
      part.headers.get("content-range"),
      await part.text(),
    ],
    [206, "attachment", "bytes 0-1/5", "he"],
  );
  assert.equal(got.at(-1)!.headers.range, "bytes=0-1");
  assert.equal(got.at(-1)!.line, "GET /v1/files/file-1/content?as=text");
  assert.equal((await lastOf()).name, "GET /v1/files/file-1/content"); // a query may hold secrets
  assert.equal((await fetch(`${server.url}/v1/nothing`, { method: "DELETE" })).status, 204);
  const missing = await fetch(`${server.url}/v1/nowhere`);
  assert.deepEqual([missing.status, await missing.json()], [404, { error: { message: "no such path" } }]);
  assert.equal((await lastOf()).error, "status 404");
});

test("a client that leaves ends the call, and the record says so", async () => {
  const leaving = new AbortController();
  const answer = await fetch(`${server.url}/v1/slow`, { signal: leaving.signal });
  const reader = answer.body!.getReader();
  await reader.read();
  const before = (await recorded()).length;
  leaving.abort();
  await reader.read().catch(() => undefined);
  while ((await recorded()).length === before) await new Promise((resolve) => setTimeout(resolve, 10));
  const { name, error } = await lastOf();
  assert.equal(name, "GET /v1/slow");
  assert.ok(error !== undefined);
});

test("narrowed keys, keys with a budget and keys of other scopes pass nothing", async () => {
  const before = got.length;
  for (const [secret, expected] of lesser) {
    const authorization = `Bearer ${secret}`;
    const refused = await fetch(`${server.url}/v1/files/file-1`, { headers: { authorization } });
    assert.deepEqual([refused.status, await code(refused)], [403, expected]);
  }
  assert.equal(got.length, before);
});

/** A request whose path is sent as it stands, which `fetch` would tidy. */
function raw(path: string, method = "GET", headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path, method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on("error", reject)
      .end();
  });
}

test("a path cannot leave the upstream's own, and Whetstone's own paths are not passed", async () => {
  const before = got.length;
  for (const path of [
    "/v1/../admin",
    "/v1/%2e%2e/admin",
    "/v1/files/..%2f..%2fadmin",
    "/v1/files/%5c..%5cadmin",
    "/v1/files/.%00./x",
    "/v1/files//x",
    "/v1//127.0.0.1/x",
    "/v1/files/%252e%252e/x",
    // servers in Java leave out what follows a semicolon
    "/v1/..;/admin",
    "/v1/files/..;x=1/admin",
    "/v1/..%3b/admin",
    // a dot in two bytes, as careless decoders read it; IIS's own escape; no escape; control characters
    "/v1/%c0%ae%c0%ae/admin",
    "/v1/%u002e%u002e/admin",
    "/v1/files/%zz",
    "/v1/files/a%0d%0aX: b".replace(" ", "%20"),
    "/v1/files/a%7f",
    `/v1/files/${whole}`,
    `/v1/files/${whole.replace("_", "%5f")}`,
    `/v1/${"a".repeat(3000)}`,
  ]) {
    assert.ok([400, 404].includes(await raw(path)), path);
  }
  for (const name of ownNames) assert.equal(await raw(`/v1/${name}/x/y`, "PATCH"), 404, name);
  assert.equal(got.length, before);
});

test("a method that shows the request to whoever sent it, or that nobody uses, is not passed", async () => {
  const before = got.length;
  // a provider that answers TRACE would show the operator's key
  for (const method of ["TRACE", "PURGE", "PROPFIND"])
    assert.equal(await raw("/v1/files/file-1", method), 405, method);
  assert.equal(got.length, before);
  assert.equal(await raw("/v1/files/file-1", "OPTIONS"), 404);
});

test("no header of a passed call holds a key of ours", async () => {
  for (const name of ["content-type", "range", "content-encoding", "accept"])
    await raw("/v1/files", "POST", { [name]: `x; key=${whole}`, "x-api-key": whole });
  for (const { headers } of got)
    assert.ok(!JSON.stringify(headers).includes("wst_"), JSON.stringify(headers));
});

test("a compressed body keeps the name of its compression", async () => {
  await raw("/v1/files", "POST", { "content-encoding": "gzip" });
  assert.equal(got.at(-1)!.headers["content-encoding"], "gzip");
});

test("a page of the provider's is no page of this server: its scripts do not run", async () => {
  const page = await fetch(`${server.url}/v1/page`);
  assert.match(page.headers.get("content-security-policy") ?? "", /^sandbox; default-src 'none'/);
  assert.equal(page.headers.get("x-content-type-options"), "nosniff");
});

test("an answer of a status without a body ends, although a body comes with it", async () => {
  let [open, sent] = [0, 0];
  const lying = netServer((socket) => {
    open++;
    socket.on("error", () => {}).on("close", () => open--);
    socket.once("data", () => {
      sent++;
      socket.write("HTTP/1.1 205 Reset Content\r\ncontent-length: 50000000\r\n\r\n");
      socket.write(Buffer.alloc(4_000_000));
    });
  }).listen(0, "127.0.0.1");
  await once(lying, "listening");
  const answerer = upstream({ url: `http://127.0.0.1:${(lying.address() as AddressInfo).port}/v1` });
  const calling = {
    method: "GET",
    path: "/x",
    headers: {},
    credentials: {},
    gone: new AbortController().signal,
  };
  const answer = await answerer.pass!(calling);
  assert.equal(answer.status, 205);
  assert.deepEqual(await Array.fromAsync(answer.body), []);
  while (open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(sent, 1);
  await answerer.close();
  lying.close();
});

test("the record names the path as people write it, so that personal data in it can be redacted, and no more than fits", async () => {
  await raw("/v1/users/ann%40example.com");
  assert.equal((await lastOf()).name, "GET /v1/users/ann@example.com");
  await raw(`/v1/${"a".repeat(1500)}`);
  assert.match((await lastOf()).name, /^GET \/v1\/a{300,500}…$/);
});

test("every path of Whetstone's own is among the names that are not passed", () => {
  const spoken = new Set(["chat", "completions", "responses", "messages", "embeddings", "models"]);
  const names = shut.routes.flatMap((route) => /^\w+ \/v1\/([^/]+)/.exec(route)?.[1] ?? []);
  assert.ok(names.includes("feedback"));
  assert.deepEqual(
    [...new Set(names)].filter((name) => !spoken.has(name) && !ownNames.has(name)),
    [],
  );
});

test("a body that is too long is refused, whether it states its length or not", async () => {
  const before = got.length;
  const { hostname, port } = new URL(server.url);
  const headers = { "content-length": String(2 ** 28) };
  const [response] = (await once(
    httpRequest({ hostname, port, path: "/v1/files", method: "POST", headers })
      .on("error", () => {})
      .end("x"),
    "response",
  )) as [IncomingMessage];
  assert.equal(response.statusCode, 413);
  response.destroy();
  assert.equal(got.length, before);

  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 3; i++) yield new Uint8Array(10);
  }
  const within = counted(pieces(), 30);
  assert.equal((await Array.fromAsync(within.body!)).length, 3);
  assert.deepEqual([within.bytes, within.isTooLong], [30, false]);
  const beyond = counted(pieces(), 29);
  await assert.rejects(Array.fromAsync(beyond.body!), RangeError);
  assert.ok(beyond.isTooLong);
});

test("without the option nothing is passed", async () => {
  const before = got.length;
  const refused = async (path: string) => {
    const answer = await fetch(shut.url + path);
    assert.equal(answer.status, 404, path);
    return await answer.text();
  };
  for (const path of ["/v1/files/file-1", "/session/s1/v1/images/generations"])
    assert.match(await refused(path), /started with whetstone serve --pass-through passes/);
  // no option makes these answer
  for (const path of ["/v1/feedback/x", "/session/s1/x"])
    assert.doesNotMatch(await refused(path), /pass-through/);
  assert.equal(got.length, before);
});
