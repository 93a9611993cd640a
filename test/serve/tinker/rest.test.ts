import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readModel } from "../../../src/engine/local/checkpoint.ts";
import { readPeft } from "../../../src/engine/local/peft.ts";
import { openBase, tinyBase } from "../../../src/serve/tinker/bases.ts";
import { checkpoints } from "../../../src/serve/tinker/checkpoints.ts";
import { completions } from "../../../src/serve/tinker/completions.ts";
import { isFault } from "../../../src/serve/tinker/fault.ts";
import { checkpointJson } from "../../../src/serve/tinker/runs.ts";
import { type TinkerServer, tinkerServer } from "../../../src/serve/tinker/server.ts";

let folder = "";
let server: TinkerServer;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tinker-"));
  const base = await openBase(await tinyBase(folder), { threads: 1 });
  server = await tinkerServer({ bases: [base], folder, patience: 20, names: ["box.example"] });
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

type Answer = Readonly<Record<string, unknown>>;
async function said(method: string, path: string, body?: object, status = 200): Promise<Answer> {
  const response = await fetch(`${server.url}/api/v1/${path}`, {
    method,
    headers: {
      "x-api-key": "tml-any",
      "x-idempotency-key": path === "create_session" ? randomUUID() : "once",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, status, `${path}: ${text}`);
  return text === "" ? {} : Object(JSON.parse(text));
}
const result = (pending: Answer): Promise<Answer> =>
  said("POST", "retrieve_future", { request_id: pending.request_id });
const done = async (path: string, body: object): Promise<Answer> => result(await said("POST", path, body));

async function model(): Promise<readonly [session: string, model: string]> {
  const { session_id } = await said("POST", "create_session", { tags: [] });
  const made = await said("POST", "create_model", {
    session_id,
    model_seq_id: 0,
    base_model: "tiny",
    lora_config: { rank: 4, seed: 1 },
  });
  await result(made);
  return [String(session_id), String(made.model_id)];
}

test("without a key of its own the server answers to this machine's names alone", async () => {
  const statusAs = async (host: string): Promise<number | undefined> => {
    const headers = { host, "x-api-key": "tml-any" };
    const asked = request(`${server.url}/api/v1/get_server_capabilities`, { headers }).end();
    const [response] = await once(asked, "response");
    response.resume();
    return response.statusCode;
  };
  const { port } = new URL(server.url);
  for (const own of [`127.0.0.1:${port}`, "localhost", `[::1]:${port}`, "box.example"])
    assert.equal(await statusAs(own), 200, own);
  for (const other of ["evil.example", `localhost.evil.example:${port}`, "10.0.0.7"]) {
    assert.equal(await statusAs(other), 403, other);
  }
});

test("what was saved is listed, marked, copied, handed out and deleted", async () => {
  const [session, id] = await model();
  await done("save_weights", { model_id: id, seq_id: 1, path: "a", ttl_seconds: 7200 });
  const brief = await done("save_weights", { model_id: id, seq_id: 2, path: "b", ttl_seconds: 60 });
  assert.match(String(brief.error), /expected 3600/);
  await done("save_weights_external", { model_id: id, seq_id: 3, path: "peft" });
  const at = `training_runs/${id}/checkpoints`;
  const listed = async (): Promise<readonly Answer[]> => Object(await said("GET", at)).checkpoints;
  const [first, second] = await listed();
  assert.equal(first?.checkpoint_id, "weights/a");
  assert.equal(second?.checkpoint_type, "external");
  const left = Date.parse(String(first?.expires_at)) - Date.now();
  assert.ok(left > 7_100_000 && left <= 7_200_000);

  await said("PUT", `${at}/weights/a/ttl`, { ttl_seconds: null }, 204);
  await said("POST", `${at}/weights/a/publish`, undefined, 204);
  const [marked] = await listed();
  assert.deepEqual([marked?.expires_at, marked?.public], [null, true]);
  await said("DELETE", `${at}/weights/a/publish`, undefined, 204);
  assert.equal((await listed())[0]?.public, false);

  const run = await said("GET", `training_runs/${id}`);
  assert.deepEqual(
    [run.base_model, run.lora_rank, Object(run.last_checkpoint).checkpoint_id],
    ["tiny", 4, "weights/a"],
  );
  const { training_runs, cursor } = await said("GET", "training_runs?limit=1");
  assert.equal(Object(training_runs).length, 1);
  assert.equal(Object(cursor).total_count, 1);
  assert.deepEqual(Object(await said("GET", `sessions/${session}`)).training_run_ids, [id]);

  const { urls } = await said("GET", `${at}/external_weights/peft/external_weights_urls`);
  assert.deepEqual(Object.keys(Object(urls)), ["adapter_config.json", "adapter_model.safetensors"]);
  const link = String(Object(urls)["adapter_config.json"]);
  const config = Object(await (await fetch(link)).json());
  assert.deepEqual([config.r, config.lora_alpha], [4, 32]);
  assert.equal((await fetch(link.replace("adapter_config", "adapter_model"))).status, 403);
  const kept = join(folder, "models", id.replaceAll(":", "_"), "external_weights", "peft");
  const { config: shape } = await readModel(join(folder, "bases", "tiny"));
  assert.equal((await readPeft(kept, shape)).adapter.rank, 4);

  const copy = { source_path: first?.tinker_path, destination_project_id: "any" };
  const { tinker_path } = await said("POST", "copy_weights", copy);
  assert.equal((await said("POST", "copy_weights", copy)).tinker_path, tinker_path);
  assert.match(String(tinker_path), /^tinker:\/\/[\w-]+:train:0\/weights\/a$/);
  await said("DELETE", `${at}/weights/a`, undefined, 204);
  await said("DELETE", `${at}/weights/a`, undefined, 404);
  const loaded = await done("load_weights", {
    session_id: session,
    model_seq_id: 1,
    path: tinker_path,
    optimizer: true,
  });
  assert.equal(loaded.path, tinker_path);
  assert.match(String((await said("GET", "audit", undefined, 404)).detail), /not served here/);
});

test("a checkpoint whose time is over is not there, and its name is free", async () => {
  const store = checkpoints(join(folder, "store"));
  const about = { base_model: "tiny", train_mlp: true, train_attn: true };
  const save = (expires: string) =>
    store.save("m:train:0", "weights", "w", about, async () => undefined, { marks: { expires } });
  const path = await save(new Date(Date.now() - 1).toISOString());
  assert.equal(path, "tinker://m:train:0/weights/w");
  assert.ok(isFault(await store.find(String(path))));
  assert.deepEqual(await store.list("m:train:0"), []);
  assert.equal(await save(new Date(Date.now() + 60_000).toISOString()), path);
  assert.ok(isFault(await save(new Date().toISOString())));
  assert.deepEqual(await store.models(), ["m:train:0"]);
});

test("a checkpoint is whole or not there, whenever its server is killed or its disk is full", async () => {
  const root = join(folder, "whole");
  const about = { base_model: "tiny", train_mlp: true, train_attn: true };
  const store = checkpoints(root);
  const fill = (text: string) => (to: string) => writeFile(join(to, "weights"), text);
  const path = String(await store.save("m:train:0", "weights", "w", about, fill("old")));
  const text = async (): Promise<string> => {
    const saved = await store.find(path);
    return isFault(saved) ? saved.error : await readFile(join(saved.folder, "weights"), "utf8");
  };
  const full = async (to: string): Promise<void> => {
    await fill("half")(to);
    throw new Error("ENOSPC");
  };
  const over = { overwritten: true };
  await assert.rejects(store.save("m:train:0", "weights", "w", about, full, over), /ENOSPC/);
  assert.equal(await text(), "old");
  const [own = ""] = await readdir(join(root, "unfinished"));
  assert.deepEqual(await readdir(join(root, "unfinished", own)), []);
  assert.equal(await store.save("m:train:0", "weights", "w", about, fill("new"), over), path);
  assert.equal(await text(), "new");
  const long = "n".repeat(255);
  assert.equal(
    await store.save("m:train:0", "weights", long, about, fill("")),
    `tinker://m:train:0/weights/${long}`,
  );

  // another server is killed while it saves
  const saving = Promise.withResolvers<void>();
  const never = Promise.withResolvers<void>();
  const other = checkpoints(root);
  void other.save("m:train:1", "weights", "w", about, async (to) => {
    await fill("half")(to);
    saving.resolve();
    await never.promise;
  });
  await saving.promise;
  assert.equal((await readdir(join(root, "unfinished"))).length, 2);
  await store.tidy();
  assert.deepEqual(await readdir(join(root, "unfinished")), [own]);
  assert.deepEqual(await store.list("m:train:1"), []);
});

test("what has expired frees the disk", async () => {
  const root = join(folder, "expiring");
  const store = checkpoints(root);
  const about = { base_model: "tiny", train_mlp: true, train_attn: true };
  for (const [name, ms] of [
    ["old", -1],
    ["new", 60_000],
  ] as const) {
    const marks = { expires: new Date(Date.now() + ms).toISOString() };
    await store.save("m:train:0", "weights", name, about, async () => undefined, { marks });
  }
  const names = (): Promise<string[]> => readdir(join(root, "models", "m_train_0", "weights"));
  assert.deepEqual((await names()).sort(), ["new", "old"]);
  await store.tidy();
  assert.deepEqual(await names(), ["new"]);
});

test("a number that stands for one model or sampling session is not taken for another", async () => {
  const [session, id] = await model();
  const another = { session_id: session, model_seq_id: 0, base_model: "tiny", lora_config: { rank: 8 } };
  await said("POST", "create_model", another, 409);
  const { path } = await done("save_weights_for_sampler", { model_id: id, seq_id: 1, path: "s" });
  const sampler = { session_id: session, sampling_session_seq_id: 0 };
  const { sampling_session_id } = await said("POST", "create_sampling_session", {
    ...sampler,
    base_model: "tiny",
  });
  const again = await said("POST", "create_sampling_session", { ...sampler, base_model: "tiny" });
  assert.equal(again.sampling_session_id, sampling_session_id);
  await said("POST", "create_sampling_session", { ...sampler, model_path: path }, 409);
  const snapshot = await done("save_weights_for_sampler", {
    model_id: id,
    seq_id: 2,
    sampling_session_seq_id: 0,
  });
  assert.match(String(snapshot.error), /there already/);

  const attention = { rank: 4, train_mlp: false };
  const part = { ...another, model_seq_id: 1, lora_config: attention };
  const { model_id } = await done("create_model", part);
  await done("save_weights", { model_id, seq_id: 1, path: "part" });
  const load = { model_id: id, seq_id: 3, path: `tinker://${model_id}/weights/part`, optimizer: true };
  assert.match(
    String((await done("load_weights", load)).error),
    /rank 4 on attention, expected .* attention and MLP/,
  );
});

test("a run that was left without a checkpoint is not counted", async () => {
  const counted = async () => Object((await said("GET", "training_runs?limit=1")).cursor).total_count;
  const before = await counted();
  await mkdir(join(folder, "models", "m_train_0"), { recursive: true });
  assert.equal(await counted(), before);
});

test("one question tells of all samples that have ended, to each client of a session its own", async () => {
  const [session] = await model();
  const made = await said("POST", "create_sampling_session", {
    session_id: session,
    sampling_session_seq_id: 0,
    base_model: "tiny",
  });
  const { sampling_session_id } = made;
  const { client_counter } = await said("POST", "join_sampling_session", { sampling_session_id });
  assert.equal(client_counter, 1);
  const ask = (seq_id: number) =>
    said("POST", "asample", {
      sampling_session_id,
      seq_id,
      prompt: { chunks: [{ type: "encoded_text", tokens: [10, 20] }] },
      sampling_params: { max_tokens: 1 },
    });
  const own = await ask(0);
  const other = await ask(1_000_000_000);
  for (const [cloned_sampler_id, wanted] of [own, other].entries()) {
    const target = { type: "sampling_session", sampling_session_id, cloned_sampler_id };
    const { completions: ended, cursor } = await said("POST", "retrieve_futures", { target, prev_cursor: 0 });
    assert.equal(Object(ended).length, 1);
    assert.equal(Object(ended)[0].request_id, wanted.request_id);
    assert.equal(Object(ended)[0].state, "finished");
    const later = await said("POST", "retrieve_futures", { target, prev_cursor: cursor, timeout: 0 });
    assert.deepEqual(later, { completions: [], cursor });
  }
});

test("a cursor forgets what lies before it, and waits for what comes", async () => {
  const all = completions();
  all.add({ state: "failed", request_id: "a" });
  all.add({ state: "failed", request_id: "b" });
  const { completions: first, cursor } = await all.since(0, 0);
  assert.deepEqual([first.length, cursor], [2, 2]);
  const waiting = all.since(1, 10_000);
  assert.deepEqual((await waiting).completions, [{ state: "failed", request_id: "b" }]);
  const next = all.since(2, 10_000);
  all.add({ state: "finished", request_id: "c" });
  assert.deepEqual(await next, { completions: [{ state: "finished", request_id: "c" }], cursor: 3 });
});

test("a checkpoint that is saved, marked, copied, listed and deleted at once is whole or not there, and nothing fails", async () => {
  const store = checkpoints(await mkdtemp(join(folder, "race-")));
  const about = { base_model: "tiny", lora_rank: 4, train_mlp: true, train_attn: true };
  const fill = (to: string) => writeFile(join(to, "weights"), "x".repeat(1000));
  const save = () => store.save("m:train:0", "weights", "a", about, fill, { overwritten: true });
  const path = "tinker://m:train:0/weights/a";
  const ways = [
    save,
    async () => {
      const saved = await store.find(path);
      if (!isFault(saved)) await store.mark(saved, { public: true });
    },
    async () => {
      const saved = await store.find(path);
      if (!isFault(saved)) await store.copy(saved, "other:train:0", {});
    },
    async () => {
      const saved = await store.find(path);
      if (!isFault(saved)) await store.remove(saved);
    },
    async () => {
      for (const saved of await store.list("m:train:0")) await checkpointJson(saved);
    },
  ];
  const all = Array.from({ length: 300 }, (_, n) => ways[(n * 7 + Math.floor(n / 5)) % ways.length]!());
  const failed = (await Promise.allSettled(all)).filter(({ status }) => status === "rejected");
  assert.deepEqual(failed, []);
  assert.equal(await save(), path);
  const kept = await store.find(path);
  assert.ok(!isFault(kept));
  assert.equal((await readFile(join(kept.folder, "weights"), "utf8")).length, 1000);
});
