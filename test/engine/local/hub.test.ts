/** The real Hub client over real HTTP, against a server that answers the Hub's routes for the models below. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { type FetchOptions, type FetchProgress, fetchModel, isHubId } from "../../../src/engine/local/hub.ts";
import { failsWith } from "./support.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";
const big = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) & 255);
const text = (of: string): Uint8Array => new TextEncoder().encode(of);
type Files = Readonly<Record<string, Uint8Array>>;
const models: Readonly<Record<string, Files>> = {
  "somebody/small": {
    "config.json": text('{"model_type":"llama"}'),
    "tokenizer.json": text("{}"),
    "tokenizer_config.json": text('{"x":1}'),
    "chat_template.jinja": text("{{ messages }}"),
    "model.safetensors": big,
    // what is not needed
    "pytorch_model.bin": text("old"),
    "consolidated.safetensors": text("the same once more"),
    "README.md": text("# small"),
  },
  "somebody/shards": {
    "config.json": text("{}"),
    "tokenizer.json": text("{ }"),
    "model.safetensors.index.json": text(
      '{"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}',
    ),
    "model-00001-of-00002.safetensors": text("one"),
    "model-00002-of-00002.safetensors": text("two"),
  },
  "somebody/gated": { "config.json": text("{}"), "model.safetensors": text("secret") },
  "somebody/old": { "config.json": text("{}"), "pytorch_model.bin": text("old") },
};

let root = "";
let server: Server;
let url = "";
/** Every request as method, path and range. */
let log: string[] = [];
/** Bytes after which the server breaks off the answer with the weights. */
let breakAfter: number | undefined;

const digest = (algorithm: string, data: Uint8Array): string =>
  createHash(algorithm).update(data).digest("hex");

function answer(request: IncomingMessage, response: ServerResponse): ServerResponse {
  const path = decodeURIComponent(new URL(request.url ?? "/", url).pathname);
  log.push(`${path}${request.headers.range ? ` ${request.headers.range}` : ""}`);
  const send = (status: number, value: unknown): ServerResponse =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  const [, id = "", kind, revision, name = ""] =
    path.match(/^\/api\/models\/([^/]+\/[^/]+)\/(revision|tree)\/(.+)$/) ??
    path.match(/^\/([^/]+\/[^/]+)\/(resolve)\/([^/]+)\/(.+)$/) ??
    [];
  const found = models[id];
  if (!found) return send(401, { error: "Repository not found" });
  if (id === "somebody/gated" && request.headers.authorization !== "Bearer hf_open") {
    return send(request.headers.authorization ? 403 : 401, { error: `Access to model ${id} is restricted` });
  }
  if (revision !== "main" && revision !== commit) return send(404, { error: `Invalid rev id: ${revision}` });
  if (kind === "revision")
    return send(200, { _id: "1", id, sha: commit, lastModified: "2026-01-01T00:00:00Z" });
  if (kind === "tree") {
    return send(
      200,
      Object.entries(found).map(([file, data]) => ({
        type: "file",
        path: file,
        size: data.length,
        oid: digest("sha1", data),
        ...(file.endsWith(".safetensors") ? { lfs: { oid: digest("sha256", data), size: data.length } } : {}),
      })),
    );
  }
  const data = found[name];
  if (!data) return response.writeHead(404, { "x-error-code": "EntryNotFound" }).end();
  const [, first = "0", last] = request.headers.range?.match(/^bytes=(\d+)-(\d+)$/) ?? [];
  const from = Number(first);
  const to = last === undefined ? data.length : Math.min(Number(last) + 1, data.length);
  response.writeHead(request.headers.range ? 206 : 200, {
    etag: `"${digest("sha1", data)}"`,
    "content-length": to - from,
    ...(request.headers.range ? { "content-range": `bytes ${from}-${to - 1}/${data.length}` } : {}),
  });
  if (breakAfter !== undefined && to - from > breakAfter) {
    response.write(data.subarray(from, from + breakAfter), () => setTimeout(() => response.destroy(), 50));
    return response;
  }
  return response.end(data.subarray(from, to));
}

before(async () => {
  root = await mkdtemp(join(tmpdir(), "whetstone-hub-"));
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
beforeEach(() => {
  log = [];
  breakAfter = undefined;
});
after(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true, force: true });
});

/** A home of its own, with nothing fetched. */
async function fresh(more: Readonly<Record<string, string>> = {}): Promise<FetchOptions & { home: string }> {
  const home = await mkdtemp(join(root, "home"));
  return { home, environment: { HF_HOME: home, HF_ENDPOINT: `${url}/`, ...more } };
}

test("fetchModel fetches what is needed into the cache that all of the Hub's tools share", async () => {
  const { home, ...options } = await fresh();
  const seen: FetchProgress[] = [];
  const folder = await fetchModel("somebody/small", { ...options, progress: (at) => seen.push(at) });
  const storage = join(home, "hub", "models--somebody--small");
  assert.equal(folder, join(storage, "snapshots", commit));
  for (const [name, data] of Object.entries(models["somebody/small"]!)) {
    const needed = !["pytorch_model.bin", "consolidated.safetensors", "README.md"].includes(name);
    const read = await readFile(join(folder, name)).catch(() => undefined);
    assert.deepEqual(read && new Uint8Array(read), needed ? data : undefined, name);
  }
  assert.ok((await lstat(join(folder, "model.safetensors"))).isSymbolicLink());
  assert.deepEqual(
    new Uint8Array(await readFile(join(storage, "blobs", digest("sha256", big)))),
    big,
    "contents lie under their hash",
  );
  assert.equal(await readFile(join(storage, "refs", "main"), "utf8"), commit);
  const last = seen.at(-1)!;
  assert.equal(last.file, "model.safetensors");
  assert.equal(last.bytes, last.ofBytes);
  assert.ok(seen.length > 6, "progress within a file");

  log = [];
  assert.equal(await fetchModel("somebody/small", options), folder);
  assert.deepEqual(
    log.filter((line) => line.includes("resolve")),
    [],
    "nothing is fetched twice",
  );
});

test("fetchModel goes on where a broken connection left off", async () => {
  const { home, ...options } = await fresh();
  breakAfter = 1_000_000;
  await assert.rejects(
    fetchModel("somebody/small", options),
    failsWith("hub.unreachable", /somebody\/small at main: .*finished downloads are kept/),
  );
  breakAfter = undefined;
  log = [];
  const seen: FetchProgress[] = [];
  const folder = await fetchModel("somebody/small", { ...options, progress: (at) => seen.push(at) });
  assert.deepEqual(new Uint8Array(await readFile(join(folder, "model.safetensors"))), big);
  const [, from] = log.find((line) => /resolve.*bytes=[1-9]/.test(line))?.match(/bytes=(\d+)-/) ?? [];
  assert.ok(Number(from) > 100_000, `a range from ${from}`);
  assert.equal(seen.at(-1)!.bytes, seen.at(-1)!.ofBytes);
});

test("fetchModel fetches shards, and takes a snapshot that is whole without a connection", async () => {
  const { home, ...options } = await fresh();
  const folder = await fetchModel("somebody/shards", { ...options, revision: commit });
  assert.equal(await readFile(join(folder, "model-00002-of-00002.safetensors"), "utf8"), "two");
  await fetchModel("somebody/shards", options);

  log = [];
  const offline = { environment: { ...options.environment, HF_HUB_OFFLINE: "1" } };
  assert.equal(await fetchModel("somebody/shards", offline), folder);
  assert.deepEqual(log, []);
  const unreachable = { environment: { ...options.environment, HF_ENDPOINT: "http://127.0.0.1:9" } };
  assert.equal(await fetchModel("somebody/shards", unreachable), folder, "the Hub cannot be reached");

  await rm(join(folder, "model-00002-of-00002.safetensors"));
  for (const without of [offline, unreachable]) {
    await assert.rejects(fetchModel("somebody/shards", without), failsWith("hub.unreachable"));
  }
});

test("fetchModel takes what another tool left in the cache", async () => {
  const { home, ...options } = await fresh();
  const storage = join(home, "elsewhere", "models--somebody--small");
  const snapshot = join(storage, "snapshots", commit);
  await mkdir(snapshot, { recursive: true });
  await mkdir(join(storage, "blobs"));
  const blob = digest("sha256", big);
  await writeFile(join(storage, "blobs", blob), big);
  await symlink(join("..", "..", "blobs", blob), join(snapshot, "model.safetensors"));
  const environment = { ...options.environment, HF_HUB_CACHE: join(home, "elsewhere") };
  assert.equal(await fetchModel("somebody/small", { environment }), snapshot);
  assert.deepEqual(
    log.filter((line) => line.includes("resolve") && line.includes("safetensors")),
    [],
  );
});

test("fetchModel asks with the token that was given, set or stored", async () => {
  const { home, ...options } = await fresh();
  const read = (folder: string): Promise<string> => readFile(join(folder, "model.safetensors"), "utf8");
  assert.equal(await read(await fetchModel("somebody/gated", { ...options, token: "hf_open" })), "secret");
  const set = await fresh({ HF_TOKEN: "hf_open" });
  assert.equal(await read(await fetchModel("somebody/gated", set)), "secret");
  const stored = await fresh();
  await writeFile(join(stored.home, "token"), "hf_open\n");
  assert.equal(await read(await fetchModel("somebody/gated", stored)), "secret");
});

test("fetchModel says in one error what is wrong", async () => {
  const { home, ...options } = await fresh();
  const cases: readonly (readonly [string, FetchOptions, Parameters<typeof failsWith>[0], RegExp])[] = [
    ["somebody/gated", {}, "hub.denied", /got no token.*Accept the model's terms on .*somebody\/gated/],
    ["somebody/gated", { token: "hf_closed" }, "hub.denied", /a token that has no access/],
    ["somebody/gated", { token: "closed" }, "hub.denied", /begins with hf_/],
    ["nobody/nothing", {}, "hub.denied", /check the spelling/],
    ["somebody/small", { revision: "v9" }, "hub.notFound", /somebody\/small at v9/],
    ["somebody/old", {}, "model.unsupported", /without safetensors/],
    ["../small", {}, "hub.notFound", /an invalid model id/],
    ["somebody/small", { revision: "../../x" }, "hub.notFound", /an invalid model id or revision/],
    ["somebody/small", { cache: join(root, "file") }, "folder.unwritable", /file/],
  ];
  await writeFile(join(root, "file"), "");
  for (const [id, more, code, message] of cases) {
    await assert.rejects(fetchModel(id, { ...options, ...more }), failsWith(code, message), `${id}`);
  }
});

test("fetchModel refuses contents of another length, and begins them anew", async () => {
  const { home, ...options } = await fresh();
  const part = join(home, "hub", "models--somebody--small", "blobs", `${digest("sha256", big)}.incomplete`);
  await mkdir(join(part, ".."), { recursive: true });
  await writeFile(part, "");
  await truncate(part, big.length + 1);
  const folder = await fetchModel("somebody/small", options);
  assert.deepEqual(new Uint8Array(await readFile(join(folder, "model.safetensors"))), big);
  assert.equal(basename(folder), commit);
});

test("isHubId tells ids from paths", () => {
  for (const id of ["gpt2", "Qwen/Qwen2.5-0.5B-Instruct", "a/b_c.d-1"]) assert.ok(isHubId(id), id);
  for (const id of ["./a", "../a/b", "/a/b", "a/b/c", "a--b/c", "~/a", "a\\b", "", "a/..", "C:/a"]) {
    assert.ok(!isHubId(id), id);
  }
});
