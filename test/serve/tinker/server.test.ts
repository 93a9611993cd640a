import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import { readOutput, writePass } from "../../../src/engine/tinker/protobuf.ts";
import { protobufType, textInput } from "../../../src/engine/tinker/protocol.ts";
import { idTensor, tensorOf } from "../../../src/engine/tinker/tensors.ts";
import { openBase, tinyBase } from "../../../src/serve/tinker/bases.ts";
import { type TinkerServer, tinkerServer } from "../../../src/serve/tinker/server.ts";

let folder = "";
let server: TinkerServer;
const start = async (): Promise<TinkerServer> =>
  tinkerServer({
    bases: [await openBase(await tinyBase(folder), { threads: 1 })],
    folder,
    key: "tml-right",
    sessionSeconds: 60,
    patience: 20,
  });
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "tinker-"));
  server = await start();
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

type Answer = Readonly<Record<string, unknown>>;
const ask = (
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${server.url}/api/v1/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": "tml-right", ...headers },
    ...(body === undefined
      ? {}
      : { body: body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body) }),
  });
async function said(path: string, body?: unknown, status = 200): Promise<Answer> {
  const response = await ask(path, body);
  assert.equal(response.status, status, `${path}: ${await response.clone().text()}`);
  return Object(await response.json());
}
const result = async (pending: Answer): Promise<Answer> =>
  said("retrieve_future", { request_id: pending.request_id });

async function model(session: unknown, number: number, rank = 4): Promise<string> {
  const pending = await said("create_model", {
    session_id: session,
    model_seq_id: number,
    base_model: "tiny",
    lora_config: { rank, seed: 1 },
  });
  await result(pending);
  return String(pending.model_id);
}
const session = async (): Promise<unknown> => (await said("create_session", { tags: [] })).session_id;
const datum = (tokens: readonly number[]) => ({
  model_input: textInput(tokens.slice(0, -1)),
  loss_fn_inputs: { target_tokens: { data: tokens.slice(1), dtype: "int64" } },
});
const passOf = (model_id: string, seq_id: number, loss_fn = "cross_entropy") => ({
  model_id,
  seq_id,
  forward_backward_input: { data: [datum([10, 20, 30, 40])], loss_fn },
});
const stepOf = (model_id: string, seq_id: number, learning_rate = 1e-2) => ({
  model_id,
  seq_id,
  adam_params: { learning_rate, eps: 1e-8 },
});
const lossOf = (answer: Answer): number => Number(Object(answer.metrics)["loss:sum"]);

test("a key that is not the server's is refused, and none is asked for to see that it is there", async () => {
  assert.equal((await ask("get_server_capabilities", undefined, { "x-api-key": "tml-wrong" })).status, 401);
  assert.equal((await ask("create_session", { tags: [] }, { "x-api-key": "" })).status, 401);
  assert.deepEqual(await (await fetch(`${server.url}/api/v1/healthz`)).json(), { status: "ok" });
  await assert.rejects(tinkerServer({ bases: [], folder, key: "sk-1" }), /tml-/);
  await assert.rejects(tinkerServer({ bases: [], folder, host: "0.0.0.0" }), /key/);
});

test("steps that were sent twice are taken once, and numbers are taken in order", async () => {
  const id = await model(await session(), 0);
  const late = await said("optim_step", stepOf(id, 2));
  const early = await said("forward_backward", passOf(id, 1));
  const again = await said("optim_step", stepOf(id, 2));
  assert.equal(again.request_id, late.request_id);
  await said("optim_step", stepOf(id, 2, 1), 409);
  const first = lossOf(await result(early));
  assert.equal(Object((await result(late)).metrics)["whetstone/skipped"], 0);

  const alone = await model(await session(), 0);
  await said("forward_backward", passOf(alone, 1));
  await said("optim_step", stepOf(alone, 2));
  const once = lossOf(await result(await said("forward_backward", passOf(alone, 3))));
  const twice = lossOf(await result(await said("forward_backward", passOf(id, 3))));
  assert.equal(twice, once);
  assert.ok(once < first);
});

test("protobuf and JSON say the same, packed or not; the sum over datums is the sum of their losses", async () => {
  const id = await model(await session(), 0);
  const tokens = [10, 20, 30, 40];
  const one = {
    model_input: textInput(tokens.slice(0, -1)),
    loss_fn_inputs: {
      target_tokens: idTensor(Int32Array.from(tokens.slice(1))),
      weights: tensorOf("float32", [0, 1, 2]),
    },
  };
  const packed = writePass({
    model_id: id,
    seq_id: 1,
    data: [one, one],
    loss_fn: "cross_entropy",
    loss_fn_config: {},
    forward_only: true,
  });
  const pending = await ask("forward_backward", zstdCompressSync(packed), {
    "content-type": protobufType,
    "content-encoding": "zstd",
  });
  assert.equal(pending.status, 200);
  const { request_id } = Object(await pending.json());
  const answer = await ask("retrieve_future", { request_id }, { accept: protobufType });
  assert.equal(answer.headers.get("content-type"), protobufType);
  const output = readOutput(new Uint8Array(await answer.arrayBuffer()));
  const p = output.loss_fn_outputs[0]?.logprobs?.data ?? new Float32Array();
  assert.equal(p.length, 3);
  const wanted = -2 * ((p[1] ?? 0) + 2 * (p[2] ?? 0));
  assert.ok(Math.abs((output.metrics["loss:sum"] ?? 0) - wanted) < 1e-5);
  const asJson = Object((await said("retrieve_future", { request_id })).loss_fn_outputs)[1];
  assert.deepEqual(Object(asJson).logprobs.data, [...p]);
});

test("targets that are no next tokens, several at a token, are looked up where they are", async () => {
  const id = await model(await session(), 0);
  const both = {
    model_input: textInput([10, 20]),
    loss_fn_inputs: {
      target_tokens: { data: [20, 7, 30, 8], dtype: "int64", shape: [2, 2] },
      weights: { data: [1, 0, 0, 1], dtype: "float32", shape: [2, 2] },
    },
  };
  const send = (seq_id: number, data: readonly unknown[]): Promise<Answer> =>
    said("forward_backward", {
      model_id: id,
      seq_id,
      forward_backward_input: { data, loss_fn: "cross_entropy" },
    });
  const wide = await result(await send(1, [both]));
  const next = await result(await send(2, [datum([10, 20, 30])]));
  const other = await result(await send(3, [datum([10, 20, 8])]));
  const logprobs = (answer: Answer): number[] => Object(Object(answer.loss_fn_outputs)[0]).logprobs.data;
  const [a, , c, d] = logprobs(wide);
  const [x, y] = logprobs(next);
  assert.ok(Math.abs(Number(a) - Number(x)) < 1e-5 && Math.abs(Number(c) - Number(y)) < 1e-5);
  assert.ok(Math.abs(Number(d) - Number(logprobs(other)[1])) < 1e-5);
  assert.ok(Math.abs(lossOf(wide) + Number(a) + Number(d)) < 1e-5);

  // protobuf keeps the shapes, also where datums differ in how many targets they have
  const mixed = await send(4, [both, datum([10, 20, 30])]);
  const answer = await ask("retrieve_future", { request_id: mixed.request_id }, { accept: protobufType });
  const read = readOutput(new Uint8Array(await answer.arrayBuffer()));
  assert.deepEqual(
    read.loss_fn_outputs.map((one) => one.logprobs?.shape),
    [[2, 2], [2]],
  );
  assert.ok(Math.abs(Number(read.loss_fn_outputs[1]?.logprobs?.data[0]) - Number(x)) < 1e-5);
});

test("ids that are none of the model's are refused, not taken for others", async () => {
  const id = await model(await session(), 0);
  let number = 0;
  const errorOf = async (tokens: readonly number[], targets: object): Promise<string> => {
    const sent = { model_input: textInput(tokens), loss_fn_inputs: { target_tokens: targets } };
    const forward_backward_input = { data: [sent], loss_fn: "cross_entropy" };
    const pending = await said("forward_backward", {
      model_id: id,
      seq_id: ++number,
      forward_backward_input,
    });
    return String((await result(pending)).error);
  };
  const ids = (...data: readonly number[]) => ({ data, dtype: "int64" });
  assert.match(await errorOf([10, -1], ids(-1, 5)), /model_input: got the id -1, expected ids from 0 to 262/);
  // −100 is other trainers' mark of a target to leave out
  assert.match(await errorOf([10, 20], ids(-100, 5)), /target_tokens: got the id -100.* a weight of 0/);
  assert.match(await errorOf([10, 20], ids(263, 5)), /got the id 263/);
  assert.match(await errorOf([10, 20], ids(2 ** 32 + 20, 5)), /32 bits/);
  assert.match(await errorOf([10, 2 ** 32 + 20], ids(20, 5)), /tokens/);
  assert.match(await errorOf([10, 20], ids(20.5, 5)), /whole/);
  assert.match(await errorOf([10, 20], { data: [20, 5], dtype: "float32" }), /got float32, expected int64/);
});

test("what a few bytes may ask for has bounds", async () => {
  const own = await session();
  const wide = { session_id: own, model_seq_id: 0, base_model: "tiny", lora_config: { rank: 1e6 } };
  await said("create_model", wide, 400);
  const { sampling_session_id } = await said("create_sampling_session", {
    session_id: own,
    sampling_session_seq_id: 0,
    base_model: "tiny",
  });
  const sample = {
    sampling_session_id,
    prompt: textInput(Array(1000).fill(5)),
    sampling_params: { max_tokens: 1 },
  };
  await said("asample", { ...sample, num_samples: 1e8 }, 422);
  assert.match(
    String((await result(await said("asample", { ...sample, topk_prompt_logprobs: 1e4 }))).error),
    /topk/,
  );

  const piece = new Uint8Array(2 ** 20);
  const endless = new ReadableStream({
    pull: (to) => to.enqueue(piece),
  });
  const headers = { "x-api-key": "tml-right" };
  const init: RequestInit = { method: "POST", headers, body: endless, duplex: "half" };
  // a client that still sends may see the connection close before it reads the answer
  const status = await fetch(`${server.url}/api/v1/create_session`, init).then(
    (response) => response.status,
    () => "closed",
  );
  assert.ok(status === 413 || status === "closed", `${status}`);
});

test("no step is taken on gradients of which a part failed", async () => {
  const id = await model(await session(), 0);
  const good = await result(await said("forward_backward", passOf(id, 1)));
  const bad = await result(await said("forward_backward", passOf(id, 2, "gspo")));
  assert.equal(bad.category, "user");
  assert.match(String(bad.error), /expected one of cross_entropy/);
  assert.match(String((await result(await said("optim_step", stepOf(id, 3)))).error), /No step was taken/);
  assert.equal(lossOf(await result(await said("forward_backward", passOf(id, 4)))), lossOf(good));
  assert.equal((await result(await said("optim_step", stepOf(id, 5)))).error, undefined);
});

test("a gradient that overflows is told as a step that was skipped, in numbers that JSON has", async () => {
  const id = await model(await session(), 0);
  const numbers = (x: number) => ({ data: [x, x], dtype: "float32" });
  const { model_input, loss_fn_inputs } = datum([10, 20, 30]);
  const far = { ...loss_fn_inputs, logprobs: numbers(-1000), advantages: numbers(1) };
  const forward_backward_input = {
    data: [{ model_input, loss_fn_inputs: far }],
    loss_fn: "importance_sampling",
  };
  await said("forward_backward", { model_id: id, seq_id: 1, forward_backward_input });
  assert.deepEqual((await result(await said("optim_step", stepOf(id, 2)))).metrics, {
    "whetstone/skipped": 1,
  });
  assert.ok(lossOf(await result(await said("forward_backward", passOf(id, 3)))) > 0);
});

test("a step size that no model outlives is refused, and the model goes on", async () => {
  const id = await model(await session(), 0);
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ learning_rate: -1 }, /learning_rate/],
    [{ learning_rate: 1e30 }, /got 1e\+30, expected 0 to 1000000/],
    [{ learning_rate: 0.1, weight_decay: 11 }, /weight_decay/],
  ];
  for (const [k, [adam_params, why]] of cases.entries()) {
    const { error } = await result(await said("optim_step", { model_id: id, seq_id: k + 1, adam_params }));
    assert.match(String(error), why);
  }
  // a large eps divides it again
  const descent = { learning_rate: 1e7, eps: 1e3 };
  await said("forward_backward", passOf(id, 4));
  const stepped = await result(await said("optim_step", { model_id: id, seq_id: 5, adam_params: descent }));
  assert.equal(stepped.error, undefined);
});

test("an operation that is refused has taken its number, so that those behind it go on", async () => {
  const id = await model(await session(), 0);
  const refused = async (path: string, body: object, why: RegExp): Promise<void> => {
    const pending = await said(path, body);
    assert.equal((await said(path, body)).request_id, pending.request_id);
    const { error, category } = await result(pending);
    assert.match(String(error), why);
    assert.equal(category, "user");
  };
  await refused("save_weights", { model_id: id, seq_id: 1, path: "a/b" }, /a name of letters/);
  await refused("save_weights", { model_id: id, seq_id: 2, path: "a", ttl_seconds: 5 }, /ttl_seconds/);
  const load = { model_id: id, seq_id: 3, path: "tinker://x/weights/y", optimizer: true };
  await refused("load_weights", load, /not among the checkpoints/);
  await refused("optim_step", { model_id: id, seq_id: 4, adam_params: { beta1: 1 } }, /beta1/);
  await refused("save_weights_for_sampler", { model_id: id, seq_id: 5 }, /neither a path/);
  await said("forward_backward", passOf(id, 6));
  const half = {
    data: [{ ...datum([1, 2]), loss_fn_inputs: { target_tokens: 5 } }],
    loss_fn: "cross_entropy",
  };
  await refused(
    "forward_backward",
    { model_id: id, seq_id: 7, forward_backward_input: half },
    /target_tokens/,
  );
  assert.match(String((await result(await said("optim_step", stepOf(id, 8)))).error), /No step was taken/);

  const damaged = writePass({
    model_id: id,
    seq_id: 9,
    data: [
      {
        model_input: textInput([1]),
        loss_fn_inputs: { weights: { dtype: "float32", data: new Float32Array(1), shape: [1] } },
      },
    ],
    loss_fn: "cross_entropy",
    loss_fn_config: {},
    forward_only: false,
  });
  // the tensor's dtype, which becomes one that is none
  damaged[damaged.lastIndexOf(0x18) + 1] = 9;
  const sent = await ask("forward_backward", damaged, { "content-type": protobufType });
  assert.match(String((await result(Object(await sent.json()))).error), /dtype 9/);
  assert.match(String((await result(await said("optim_step", stepOf(id, 10)))).error), /No step was taken/);
  assert.ok(lossOf(await result(await said("forward_backward", passOf(id, 11)))) > 0);

  // without a number there is nothing behind it
  await said("save_weights", { model_id: id, path: "a/b" }, 422);
  await said(
    "load_weights",
    { session_id: await session(), model_seq_id: 0, path: load.path, optimizer: true },
    404,
  );
  await said("optim_step", { model_id: id, seq_id: -1, adam_params: {} }, 422);
});

test("a new server knows the checkpoints of the former one, and says that the rest is gone", async () => {
  const before = await session();
  const id = await model(before, 0);
  await said("forward_backward", passOf(id, 1));
  await said("optim_step", stepOf(id, 2));
  const { path } = await result(await said("save_weights", { model_id: id, seq_id: 3, path: "kept" }));
  assert.equal(path, `tinker://${id}/weights/kept`);
  // nothing is waited for between saving and loading
  const saving = await said("save_weights", { model_id: id, seq_id: 10, path: "own" });
  const own = { model_id: id, seq_id: 11, path: `tinker://${id}/weights/own`, optimizer: true };
  const loading = await said("load_weights", own);
  const twice = await result(await said("save_weights", { model_id: id, seq_id: 4, path: "kept" }));
  assert.match(String(twice.error), /exists already/);
  const outside = await result(await said("save_weights", { model_id: id, seq_id: 5, path: ".." }));
  assert.match(String(outside.error), /path: got "\.\."/);
  await said("forward_backward", passOf(id, 6));
  const step = await said("optim_step", stepOf(id, 7));
  await result(step);
  const wanted = lossOf(await result(await said("forward_backward", passOf(id, 8))));
  await said("forward_backward", passOf(id, 9));
  for (const pending of [saving, loading]) assert.equal((await result(pending)).path, own.path);

  await server.close();
  server = await start();
  await said("retrieve_future", { request_id: step.request_id }, 404);
  await said("optim_step", stepOf(id, 7), 404);
  await said("session_heartbeat", { session_id: before }, 404);
  const load = await said("load_weights", {
    session_id: await session(),
    model_seq_id: 0,
    path,
    optimizer: true,
  });
  const resumed = String(load.model_id);
  assert.equal((await result(load)).path, path);
  await said("forward_backward", passOf(resumed, 1));
  await said("optim_step", stepOf(resumed, 2));
  assert.equal(lossOf(await result(await said("forward_backward", passOf(resumed, 3)))), wanted);
});

test("samples follow their seed, come again for their number, and agree with the trainer", async () => {
  const own = await session();
  const id = await model(own, 0);
  const saved = await said("save_weights_for_sampler", {
    model_id: id,
    seq_id: 1,
    sampling_session_seq_id: 0,
  });
  const { sampling_session_id } = await result(saved);
  const body = (seq_id: number, more: object = {}) => ({
    sampling_session_id,
    seq_id,
    num_samples: 2,
    prompt: textInput([10, 20]),
    sampling_params: { max_tokens: 4, seed: 5 },
    ...more,
  });
  const one = await said("asample", body(0));
  assert.equal(Object(one.sample_sequence_ids).length, 2);
  assert.equal((await said("asample", body(0))).request_id, one.request_id);
  await said("asample", body(0, { num_samples: 3 }), 409);
  const sequences = async (pending: Answer) => Object((await result(pending)).sequences);
  const first = await sequences(one);
  assert.deepEqual(await sequences(await said("asample", body(1))), first);
  const { tokens, logprobs } = first[0];
  const scored = await result(
    await said("forward", {
      model_id: id,
      seq_id: 2,
      forward_input: { data: [datum([10, 20, ...tokens])], loss_fn: "cross_entropy" },
    }),
  );
  const p: number[] = Object(Object(scored.loss_fn_outputs)[0]).logprobs.data.slice(1);
  p.forEach((x, i) => {
    assert.ok(Math.abs(x - logprobs[i]) < 1e-4);
  });
  assert.match(JSON.stringify(await said("asample", body(2, { prompt_alt_tokens_k: 2 }), 422)), /not served/);
});

test("what a session leaves behind is answered: what runs ends, what waits has failed", async () => {
  const own = await session();
  const id = await model(own, 0);
  const long = {
    data: Array(8).fill(datum(Array.from({ length: 200 }, (_, i) => i))),
    loss_fn: "cross_entropy",
  };
  const passes: Answer[] = [];
  for (let seq_id = 1; seq_id <= 3; seq_id++) {
    passes.push(await said("forward_backward", { model_id: id, seq_id, forward_backward_input: long }));
  }
  const early = await said("optim_step", stepOf(id, 9));
  assert.equal((await ask(`sessions/${own}/finish`, {})).status, 204);
  const answers = await Promise.all([...passes, early].map(result));
  assert.ok(Number(lossOf(answers[0] ?? {})) > 0);
  for (const { error, category } of answers.slice(2)) {
    assert.match(String(error), /the model has gone/);
    assert.equal(category, "user");
  }

  const other = await session();
  const gone = await model(other, 0);
  const waiting = await said("optim_step", stepOf(gone, 2));
  await result(await said("unload_model", { model_id: gone }));
  assert.match(String((await result(waiting)).error), /the model has gone/);
  await said("optim_step", stepOf(gone, 3), 404);
  assert.equal(await model(other, 0), gone); // another one, under its number
  assert.equal((await result(await said("optim_step", stepOf(gone, 1)))).error, undefined);
});

test("more saved models than may be open are sampled in turn; one that is gone is not taken for another", async () => {
  const small = await tinkerServer({
    bases: [await openBase(join(folder, "bases", "tiny"), { threads: 1 })],
    folder,
    snapshots: 1,
  });
  const post = async (path: string, body: object): Promise<Answer> => {
    const headers = { "x-api-key": "tml-any" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return Object(await (await fetch(`${small.url}/api/v1/${path}`, init)).json());
  };
  const done = async (path: string, body: object): Promise<Answer> =>
    post("retrieve_future", { request_id: (await post(path, body)).request_id });
  const { session_id } = await post("create_session", { tags: [] });
  const lora_config = { rank: 4 };
  const { model_id } = await done("create_model", {
    session_id,
    model_seq_id: 0,
    base_model: "tiny",
    lora_config,
  });
  const samplers: Answer[] = [];
  for (const [i, path] of ["one", "two"].entries()) {
    const saved = await done("save_weights_for_sampler", { model_id, path });
    const body = { session_id, sampling_session_seq_id: i, model_path: saved.path };
    samplers.push(await post("create_sampling_session", body));
  }
  let seq_id = 0;
  const sample = (i: number): Promise<Answer> =>
    done("asample", {
      ...samplers[i],
      seq_id: seq_id++,
      prompt: textInput([1]),
      sampling_params: { max_tokens: 1 },
    });
  for (const i of [0, 1, 0, 1]) assert.equal(Object((await sample(i)).sequences).length, 1);
  const at = `${small.url}/api/v1/training_runs/${model_id}/checkpoints/sampler_weights/one`;
  await fetch(at, { method: "DELETE", headers: { "x-api-key": "tml-any" } });
  await done("save_weights_for_sampler", { model_id, path: "one" });
  assert.match(String((await sample(0)).error), /was deleted, has expired or was overwritten since/);
  await small.close();
});

test("a session that is over takes its models with it", async () => {
  const own = await session();
  const id = await model(own, 0);
  const response = await ask(`sessions/${own}/finish`, { reason: { type: "success" } });
  assert.equal(response.status, 204);
  await said("optim_step", stepOf(id, 1), 410);
  await said("session_heartbeat", { session_id: own }, 410);

  const brief = await tinkerServer({
    bases: [await openBase(join(folder, "bases", "tiny"), { threads: 1 })],
    folder,
    sessionSeconds: 0.02,
  });
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${brief.url}/api/v1/${path}`, {
      method: "POST",
      headers: { "x-api-key": "tml-any" },
      body: JSON.stringify(body),
    });
  const { session_id } = Object(await (await post("create_session", { tags: [] })).json());
  await pause(40);
  assert.equal((await post("session_heartbeat", { session_id })).status, 410);
  await brief.close();
});
