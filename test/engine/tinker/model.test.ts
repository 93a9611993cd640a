/** What the engine makes of servers that are otherwise than they should be: a server in this process, by a script. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Model } from "../../../src/core/model.ts";
import type { Reduction } from "../../../src/engine/tinker/datum.ts";
import { evenCount, evenPass } from "../../../src/engine/tinker/evenly.ts";
import { tinkerEngine } from "../../../src/engine/tinker/index.ts";
import { readPass, writeOutput } from "../../../src/engine/tinker/protobuf.ts";
import { type Datum, protobufType, sampleRequest, textInput } from "../../../src/engine/tinker/protocol.ts";
import { floatTensor } from "../../../src/engine/tinker/tensors.ts";
import type { Trainer } from "../../../src/engine/tinker/trainer.ts";
import { withCode } from "../../train/world.ts";
import { batchOf, codec, linear } from "../local/support.ts";

interface Script {
  /** ln p of every target as the sampler has it, which was made after so many steps. The trainer has −1 − steps. */
  readonly sampled?: (steps: number) => number;
  readonly stepMetrics?: Readonly<Record<string, number>>;
  readonly reduction?: Reduction;
  /** Sampling sessions of each version. */
  readonly sessions?: number;
  /** Whether forward passes have no result until a sample was asked for. */
  readonly slow?: boolean;
  /** Requests for samples at a time. */
  readonly places?: number;
  /** What a reply is. Default: a token of its own for each sample, cut off. */
  readonly reply?: { readonly tokens: readonly number[]; readonly stop_reason: "stop" | "length" };
  /** Whether the result of a save has to be asked for often. */
  readonly slowSaves?: boolean;
  /** What an earlier trial found out, of a model that is opened. */
  readonly found?: { readonly samplerGap?: number; readonly keeps?: boolean };
  /** Sampling sessions of a model that stay: the oldest goes first. */
  readonly keeps?: number;
  /** Whether samplers give log-probabilities of prompts. Default true. */
  readonly readsPrompts?: boolean;
  /** Default: one that does not. */
  readonly openRl?: boolean;
}

/** A model on such a server; `advantages` has those of each backward pass, `ahead` whether its step came before its result. */
async function scripted({
  sampled = (steps) => -1 - steps,
  stepMetrics = {},
  reduction = "sum",
  sessions = 1,
  slow = false,
  keeps = Number.POSITIVE_INFINITY,
  slowSaves = false,
  places = 2000,
  reply,
  found,
  readsPrompts = true,
  openRl = !readsPrompts,
}: Script) {
  const results: (object | { looks: number } | Uint8Array<ArrayBuffer>)[] = [];
  const advantages: number[][] = [];
  const samplers: { readonly model: string; readonly steps: number }[] = [];
  const asked: string[] = [];
  const ahead: boolean[] = [];
  /** Results of backward passes, which wait a while for the step behind them. */
  const learning = new Map<object, { before: number; looks: number }>();
  let steps = 0;
  /** Those of models that were loaded. */
  const loaded = new Map<string, number>();
  let models = 0;
  const unloaded: string[] = [];
  const saves: string[] = [];
  /** Requests for samples that were taken and not fetched, and how many they were at each. */
  const sampling = new Set<string>();
  const atOnce: number[] = [];
  const later = (result: object | { looks: number } | Uint8Array<ArrayBuffer>) => ({
    request_id: String(results.push(result) - 1),
  });
  const pass = (body: Uint8Array) => {
    const { model_id, data, forward_only } = readPass(body);
    const at = -1 - (loaded.get(model_id) ?? steps);
    if (!forward_only) advantages.push(...data.map((d) => [...d.loss_fn_inputs.advantages!.data]));
    const outputs = data.map((d) => ({
      logprobs: floatTensor(new Float32Array(d.loss_fn_inputs.target_tokens!.data.length).fill(at)),
    }));
    const result = writeOutput({ loss_fn_output_type: "scalar", loss_fn_outputs: outputs, metrics: {} });
    if (!forward_only) learning.set(result, { before: steps, looks: 0 });
    return later(result);
  };
  const samples = (json: unknown) => {
    const { prompt, sampling_session_id, prompt_logprobs, num_samples } = sampleRequest.parse(json);
    const read = prompt.chunks.flatMap((chunk) => (chunk.type === "encoded_text" ? chunk.tokens : []));
    if (!prompt_logprobs) asked.push(sampling_session_id ?? "");
    const { model, steps: at } = samplers[Number(sampling_session_id)]!;
    const newer = samplers.slice(Number(sampling_session_id) + 1).filter((one) => one.model === model);
    if (newer.length >= keeps) return Response.json({ detail: "has made room" }, { status: 410 });
    const logp = sampled(at);
    return later({
      sequences: Array.from({ length: num_samples }, (_, n) => ({
        stop_reason: "length",
        tokens: [9 + n],
        logprobs: (reply?.tokens ?? [0]).map(() => logp),
        ...reply,
      })),
      ...(readsPrompts && { prompt_logprobs: read.map((_, i) => (i === 0 ? null : logp)) }),
    });
  };
  const jsonOf = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString());
  const answers: Readonly<Record<string, (body: Uint8Array) => object | Uint8Array<ArrayBuffer>>> = {
    "client/config": () => ({ sample_max_concurrent_requests: places }),
    create_session: () => ({ session_id: "s" }),
    get_server_capabilities: () => ({
      supported_models: [{ model_name: "tiny", max_context_length: 64 }],
      ...(openRl && { single_process: true }),
    }),
    create_model: () => later({ model_id: `m${models++}` }),
    load_weights(body) {
      const { model_id, path } = jsonOf(body);
      loaded.set(model_id, Number(path.split("/").at(-1)));
      return later({ path });
    },
    forward_backward: pass,
    optim_step: () => {
      steps++;
      return later({ metrics: stepMetrics });
    },
    save_weights_for_sampler(body) {
      const { model_id } = jsonOf(body);
      const made = samplers.push({ model: model_id, steps: loaded.get(model_id) ?? steps });
      return later({ sampling_session_id: String(made - 1) });
    },
    save_weights: () => later({ path: `tinker://m/weights/${steps}`, looks: 0 }),
    asample(body) {
      const answer = samples(jsonOf(body));
      if ("request_id" in answer) sampling.add(String(answer.request_id));
      atOnce.push(sampling.size);
      return answer;
    },
    unload_model(body) {
      unloaded.push(jsonOf(body).model_id);
      return later({});
    },
    retrieve_future(body) {
      const { request_id } = jsonOf(body);
      sampling.delete(request_id);
      const result = results[request_id]!;
      if ("looks" in result) {
        if (slowSaves && ++result.looks < 20) return { type: "try_again", request_id };
        saves.push(request_id);
      }
      const learnt = learning.get(result);
      if (learnt && steps === learnt.before && ++learnt.looks < 50) return { type: "try_again", request_id };
      if (learnt) ahead.push(steps > learnt.before);
      const waits = slow && result instanceof Uint8Array && asked.length === 0;
      return waits ? { type: "try_again", request_id } : result;
    },
  };
  const engine = tinkerEngine({
    url: "http://stub",
    baseModel: "tiny",
    codec,
    reduction,
    probe: false,
    samplers: sessions,
    fetch: async (url, init) => {
      const body = new Uint8Array(await new Response(init?.body).arrayBuffer());
      const given = answers[String(url).slice("http://stub/api/v1/".length)]?.(body) ?? {};
      if (given instanceof Response) return given;
      if (!(given instanceof Uint8Array)) return Response.json(given);
      return new Response(given, { headers: { "Content-Type": protobufType } });
    },
  });
  const usual = { twice: 2, long: 1, reduction, clipped: 0, samplerGap: 0, staleGap: 9, cooled: 0 };
  const begun = { format: 1, baseModel: "tiny", rank: 4, seed: 1, path: null, version: 0, contextTokens: 32 };
  async function opened(): Promise<Model> {
    const folder = await mkdtemp(join(tmpdir(), "whetstone-tinker-"));
    after(() => rm(folder, { recursive: true }));
    const saved = { ...begun, reduction, findings: { ...usual, ...found } };
    await writeFile(join(folder, "tinker.json"), JSON.stringify(saved));
    return await engine.open("policy", folder);
  }
  const model = found
    ? await opened()
    : await engine.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 32 });
  return { engine, model, advantages, asked, ahead, samplers, unloaded, saves, atOnce };
}

// four targets, at all places of two datums of 3 and 1 tokens
const batch = batchOf([
  { tokens: [5, 6, 7, 8], targets: [1, 2, 3] },
  { tokens: [5, 9], targets: [1] },
]);
const objective = linear({ logp: Float32Array.of(1, 2, 3, 4) });
const learn = async (model: Model) => {
  await model.accumulate(batch, objective, null);
  return await model.step({ learningRate: 0.1 });
};
const ask = (model: Model, more = {}) =>
  model.sample([{ prompt: Int32Array.of(5, 6, 7), maxTokens: 1, seed: 1, ...more }]);

test("a sampler that has the weights of before a step is found out", async () => {
  const fresh = await scripted({});
  await ask(fresh.model);
  await learn(fresh.model);
  assert.equal((await ask(fresh.model))[0]!.version, "1");
  const stale = await scripted({ sampled: () => -1 });
  await ask(stale.model);
  await learn(stale.model);
  await assert.rejects(ask(stale.model), withCode("engine.failed", /samples from old weights/));
});

test("a sampler whose numbers are further from the trainer's than a step moves them is no old one", async () => {
  // the trainer is at −1 before the step and at −2 after it, its sampler then at −0.7
  const noisy = (steps: number) => 0.3 - steps;
  const known = await scripted({ sampled: noisy, found: { samplerGap: 1.3 } });
  await ask(known.model);
  await learn(known.model);
  assert.equal((await ask(known.model))[0]!.version, "1");
  const exact = await scripted({ sampled: noisy, found: {} });
  await ask(exact.model);
  await learn(exact.model);
  await assert.rejects(ask(exact.model), withCode("engine.failed", /samples from old weights/));
});

test("requests are dealt to several sampling sessions in turn, each proven to have the weights", async () => {
  const { model, asked } = await scripted({ sessions: 3 });
  const prompt = Int32Array.of(5, 6, 7);
  const four = [1, 2, 3, 4].map((seed) => ({ prompt, maxTokens: 1, seed }));
  assert.equal((await model.sample(four)).length, 4);
  assert.deepEqual(asked, ["0", "1", "2", "0"]);
  await learn(model);
  await model.sample(four.slice(0, 1));
  assert.equal(asked.at(-1), "3");
  // the second session of the new weights is a stale one
  let made = 0;
  const stale = await scripted({
    sessions: 2,
    sampled: (steps) => (steps > 0 && made++ % 2 > 0 ? -1 : -1 - steps),
  });
  await ask(stale.model);
  await learn(stale.model);
  await assert.rejects(ask(stale.model), withCode("engine.failed", /samples from old weights/));
});

test("so many requests as the server says are at work, of all sampling sessions together", async () => {
  const { model, atOnce } = await scripted({ sessions: 3, places: 2 });
  const prompts = Array.from({ length: 9 }, (_, i) => Int32Array.of(5, 6, 7 + i));
  await model.sample(prompts.map((prompt) => ({ prompt, maxTokens: 1, seed: 1 })));
  assert.equal(Math.max(...atOnce), 2);
});

test("samples wait for their sampler alone, and not for the forward pass of its proof", async () => {
  const { model } = await scripted({ slow: true });
  assert.equal((await ask(model))[0]!.version, "0");
});

test("frozen weights go on sampling while the model learns, and are proven as well", async () => {
  const { model } = await scripted({});
  const frozen = await model.freeze();
  await learn(model);
  const request = { prompt: Int32Array.of(5, 6, 7), maxTokens: 1, seed: 1 };
  const [before] = await frozen.sample([request]);
  assert.deepEqual([before!.version, before!.logp[0]], ["0", -1]);
  assert.equal((await model.freeze()).version, "1");
  const stale = await scripted({ sampled: () => -1 });
  await stale.model.freeze();
  await learn(stale.model);
  await assert.rejects(stale.model.freeze(), withCode("engine.failed", /samples from old weights/));
});

test("frozen weights of which a server has let go are opened again, once, from what they were saved under", async () => {
  const { model, asked } = await scripted({ keeps: 2 });
  const frozen = await model.freeze();
  for (let i = 0; i < 3; i++) {
    await learn(model);
    await ask(model);
  }
  const draw = (seed: number) => frozen.sample([{ prompt: Int32Array.of(5, 6, 7), maxTokens: 1, seed }]);
  const [one, other] = await Promise.all([draw(1), draw(2)]);
  for (const [sample] of [one, other]) assert.deepEqual([sample!.version, sample!.logp[0]], ["0", -1]);
  assert.equal((await frozen.score(batch)).logp[0], -1);
  // sessions 1 to 3 are the policy's own
  assert.deepEqual(new Set(asked.slice(-2)), new Set(["4"]));
});

test("where snapshots do not keep their weights, frozen ones have a model of their own, until they are let go", async () => {
  const { model, samplers, unloaded } = await scripted({ found: { keeps: false } });
  const frozen = await model.freeze();
  await learn(model);
  await ask(model);
  const later = await model.freeze();
  assert.deepEqual(
    samplers.map((one) => one.model),
    ["m1", "m0", "m2"],
  );
  const [sample] = await frozen.sample([{ prompt: Int32Array.of(5, 6, 7), maxTokens: 1, seed: 1 }]);
  assert.deepEqual([sample!.version, sample!.logp[0]], ["0", -1]);
  assert.deepEqual(unloaded, []);
  await frozen.dispose();
  await later.dispose();
  assert.deepEqual(unloaded, ["m1", "m2"]);
});

test("samplers of another server than Open-RL that tell nothing of prompts are refused: nobody could check their weights", async () => {
  const { model } = await scripted({ readsPrompts: false, openRl: false });
  await assert.rejects(ask(model), withCode("engine.failed", /Use a server that answers prompt_logprobs/));
});

test("a reply as long as was allowed has not stopped, whatever the server says", async () => {
  const { model } = await scripted({ reply: { tokens: [7, 8], stop_reason: "stop" } });
  const sampled = async (maxTokens: number) =>
    (await model.sample([{ prompt: Int32Array.of(5, 6), maxTokens, seed: 1 }]))[0]!.stop;
  assert.deepEqual([await sampled(2), await sampled(3)], ["length", "stop"]);
});

test("where samplers tell nothing of prompts, frozen weights are read by the trainer of their own model", async () => {
  const { model } = await scripted({ found: { keeps: false }, readsPrompts: false });
  const frozen = await model.freeze();
  await learn(model);
  const [sample] = await ask(model);
  assert.deepEqual([sample!.version, sample!.logp[0]], ["1", -2]);
  assert.deepEqual([(await frozen.score(batch)).logp[0], (await model.score(batch)).logp[0]], [-1, -2]);
  const [greedy] = await model.sample([
    { prompt: Int32Array.of(5, 6), maxTokens: 1, temperature: 0, seed: 1 },
  ]);
  assert.deepEqual([greedy!.logp[0], greedy!.behaviour[0]], [-2, 0]);
});

test("a model is let go of once what is being saved is safe, and all are with their engine", async () => {
  const { engine, model, unloaded, saves } = await scripted({ slowSaves: true });
  const other = await model.fork("fresh");
  await other.freeze();
  const before = saves.length;
  const gone = other.dispose();
  assert.deepEqual([unloaded, saves.length], [[], before]);
  await gone;
  assert.deepEqual([unloaded, saves.length], [["m1"], before + 1]);
  await engine.dispose();
  assert.deepEqual(unloaded, ["m1", "m0"]);
});

test("what a server divides by is multiplied in", async () => {
  const stepMetrics = { "skyrl.ai/grad_norm": 7 };
  const { model, advantages } = await scripted({ stepMetrics, reduction: "sequence-mean" });
  await model.accumulate(batch, objective, null);
  // two accumulations are one step of four datums: lengths 3 and 1 times 4
  assert.deepEqual(await learn(model), { gradientNorm: 7 });
  const each = [[-12, -24, -36], [-16]];
  assert.deepEqual(advantages, [...each, ...each]);
});

test("a server that compiles for each number of datums gets them filled up, and what it divides by counts them", async () => {
  const stepMetrics = { "skyrl.ai/grad_norm": 7 };
  const { model, advantages } = await scripted({ stepMetrics, reduction: "sequence-mean" });
  await learn(model); // tells who the server is
  const nine = batchOf(Array.from({ length: 9 }, (_, i) => ({ tokens: [5, i], targets: [1] })));
  await model.accumulate(nine, linear({ logp: new Float32Array(9).fill(1) }), null);
  await model.step({ learningRate: 0.1 });
  assert.deepEqual(advantages.slice(2), [...new Array<number[]>(9).fill([-10]), [0]]);
  const { logp } = await model.score(nine, {});
  assert.equal(logp.length, 9);
});

test("few numbers of datums are sent to a server that compiles, a quarter more of them at most, and each number to others", () => {
  const numbers = Array.from({ length: 1024 }, (_, i) => evenCount({ compiles: true }, i + 1));
  assert.equal(new Set(numbers).size, 36);
  numbers.forEach((sent, i) => {
    assert.ok(sent > i && sent <= 1.25 * (i + 1), `${sent} for ${i + 1}`);
  });
  assert.deepEqual(
    [17, 100, 1000].map((n) => numbers[n - 1]),
    [20, 112, 1024],
  );
  assert.equal(evenCount({ compiles: false }, 17), 17);
});

test("a datum that fills up has one token without weight, whatever the loss asks for", async () => {
  const tensor = <T extends Int32Array | Float32Array>(dtype: "int64" | "float32", data: T) => ({
    dtype,
    data,
    shape: [3, 2],
  });
  const datum = {
    model_input: textInput(Int32Array.of(1, 2, 3)),
    loss_fn_inputs: {
      target_tokens: tensor("int64", new Int32Array(6).fill(7)),
      weights: tensor("float32", new Float32Array(6).fill(1)),
    },
  };
  let sent: readonly Datum[] = [];
  const pass: Trainer["pass"] = async (data) => {
    sent = data;
    return data.map(() => new Float32Array(3));
  };
  const trainer = { compiles: true, pass } as Trainer;
  assert.equal((await evenPass(trainer, Array(9).fill(datum), "cross_entropy", true)).length, 9);
  assert.deepEqual(sent.slice(9), [
    {
      model_input: textInput(Int32Array.of(7)),
      loss_fn_inputs: {
        target_tokens: { dtype: "int64", data: Int32Array.of(7, 7), shape: [1, 2] },
        weights: { dtype: "float32", data: new Float32Array(2), shape: [1, 2] },
      },
    },
  ]);
});

test("a step is sent right behind its pass, but not to a server that may turn the two round", async () => {
  for (const [stepMetrics, behind] of [
    [{ grad_norm: 1 }, true],
    [{ "skyrl.ai/grad_norm": 1 }, false],
  ] as const) {
    const { model, ahead } = await scripted({ stepMetrics });
    await learn(model);
    await learn(model);
    // the first step tells who the server is
    assert.deepEqual(ahead, [false, behind]);
  }
});

test("requests of one prompt are one request for several samples; equal seeds are one sample", async () => {
  const { model, asked } = await scripted({});
  const [one, other] = [Int32Array.of(5, 6, 7), Int32Array.of(5, 6, 8)];
  const requests = [
    { prompt: one, maxTokens: 1, seed: 1 },
    { prompt: other, maxTokens: 1, seed: 1 },
    { prompt: one, maxTokens: 1, seed: 2 },
    { prompt: one, maxTokens: 1, seed: 1 },
  ];
  const samples = await model.sample(requests);
  // the n-th sequence of the script's answer to a request is token 9 + n
  assert.deepEqual(
    samples.map(({ action }) => [...action]),
    [[9], [9], [10], [9]],
  );
  assert.equal(asked.length, 2);
});

test("a reply that is its end alone may come without it; one that was cut off before it began is none", async () => {
  const { model } = await scripted({ reply: { tokens: [], stop_reason: "stop" } });
  const [sample] = await ask(model);
  assert.deepEqual([sample!.action.length, sample!.logp.length, sample!.stop], [0, 0, "stop"]);
  const odd = await scripted({ reply: { tokens: [], stop_reason: "length" } });
  await assert.rejects(ask(odd.model), withCode("engine.failed", /no tokens/));
});

test("draws of one prompt are one request, whoever asks first, and whoever never does", async () => {
  const { model, asked } = await scripted({ sessions: 3 });
  const [one, other] = [Int32Array.of(5, 6, 7), Int32Array.of(5, 6, 8)];
  const draw = async (index: number, prompt = one, seed = 7) => {
    const [sample] = await model.sample([
      { prompt, maxTokens: 1, seed: index, draw: { seed, index, of: 4 } },
    ]);
    return sample!.action[0];
  };
  // the n-th sequence of the script's answer to a request is token 9 + n
  assert.deepEqual(await Promise.all([draw(2), draw(0)]), [11, 9]);
  assert.equal(await draw(3), 12);
  assert.equal(asked.length, 1);
  assert.equal(await draw(0, other), 9);
  assert.equal(await draw(1, one, 8), 10);
  assert.equal(asked.length, 3);
  assert.equal(await draw(1), 10);
  assert.equal(asked.length, 3, "the last of the first four");
  assert.equal(await draw(1), 10);
  assert.equal(asked.length, 4, "what all have fetched is not kept");
  // a seed has a session of its own, whoever asks
  assert.deepEqual(asked, ["1", "1", "2", "1"]);
});

test("what the API cannot give is refused by name", async () => {
  const { engine, model } = await scripted({});
  const missing = (words: RegExp) => withCode("capability.missing", words);
  await assert.rejects(ask(model, { temperature: 0.7 }), missing(/temperature 0.7/));
  await assert.rejects(ask(model, { choices: [Int32Array.of(1)] }), missing(/choices/));
  await assert.rejects(model.score(batch, { entropy: true, topk: 3 }), missing(/entropy, topk/));
  await assert.rejects(model.step({ learningRate: 1, optimiser: "sgd" }), missing(/sgd/));
  await assert.rejects(model.accumulate(batch, objective, null, "other"), missing(/"other"/));
  const long = { id: "policy", seed: 1, vocabulary: [], contextTokens: 65 };
  await assert.rejects(engine.create(long), withCode("context.tooLong", /at most the 64/));
});
