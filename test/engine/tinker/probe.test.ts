/** What the probe finds out about servers of every kind: models of a few numbers, whose responses follow from formulas. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Codec } from "../../../src/core/model.ts";
import { linesOf, probeServer } from "../../../src/engine/tinker/probe.ts";
import { readPass, writeOutput } from "../../../src/engine/tinker/protobuf.ts";
import {
  adamParams,
  forwardBackwardRequest,
  forwardRequest,
  outputJson,
  type Pass,
  protobufType,
  sampleRequest,
} from "../../../src/engine/tinker/protocol.ts";
import { openSession } from "../../../src/engine/tinker/session.ts";
import { floatTensor } from "../../../src/engine/tinker/tensors.ts";
import { transport } from "../../../src/engine/tinker/transport.ts";
import { codec } from "../local/support.ts";

interface Habits {
  readonly byCount: boolean;
  readonly byLength: boolean;
  readonly clips: boolean;
  /** What `ppo` takes its thresholds for; undefined: it has none. */
  readonly thresholds: "ratio" | "epsilon" | undefined;
  /** Samplers have the weights of now. */
  readonly fresh: boolean;
  /** Reads JSON alone, and answers other bodies with this status. */
  readonly json?: 422 | 500;
  /** What becomes of a snapshot while its model learns on; `sets back`: sampling from it gives the model its weights. */
  readonly snapshots?: "follow" | "set back";
  /** Refuses two targets at a place, and takes no further number after. */
  readonly strict?: boolean;
  /** Leaves out the first token in a prompt's log-probabilities, which has none. */
  readonly headless?: boolean;
  /**
   * As Open-RL: has no pass without gradients, tells nothing of prompts, adds dropout to adapters that are not asked to do without,
   * and refuses betas that are integers to Python.
   */
  readonly openRl?: boolean;
  /** Log-probabilities near this many nats, rounded to bfloat16. */
  readonly coarse?: number;
}
const usual: Habits = { byCount: false, byLength: false, clips: true, thresholds: "ratio", fresh: true };

/** To eight bits of mantissa, to the nearest. */
function bfloat16(x: number): number {
  const word = new Uint32Array(Float32Array.of(x).buffer);
  word[0] = (word[0]! + 0x8000) & 0xffff0000;
  return new Float32Array(word.buffer)[0]!;
}

/** ln p of the token at place i of any row is θ_i − 3, so that ∂loss/∂θ_i adds up over rows. */
function tryOut(habits: Habits, by: Codec = codec) {
  const theta = new Float64Array(64);
  /** Places of a row differ, as its tokens do. */
  const read = (x: number, place: number): number =>
    habits.coarse === undefined ? x - 3 : bfloat16(x + habits.coarse - 0.37 * (place % 7));
  const gradient = new Float64Array(64);
  const samplers: Float64Array[] = [];
  const results: (object | Uint8Array<ArrayBuffer>)[] = [];
  /** Of each row that has one at a place. */
  const targets: (readonly number[])[] = [];
  /** Settings of PEFT that came with new adapters. */
  const asked: { lora_alpha?: number; lora_dropout?: number }[] = [];
  let rows = 0;
  const later = (result: object | Uint8Array<ArrayBuffer>) => ({ request_id: `${results.push(result) - 1}` });

  function learn({ data, loss_fn, loss_fn_config }: Pass): void {
    for (const { loss_fn_inputs } of data) {
      const { logprobs, advantages, weights } = loss_fn_inputs;
      rows++;
      if (weights?.data.every((w: number) => w === 0)) continue;
      const N = advantages!.data.length;
      for (let i = 0; i < N; i++) {
        const offset = habits.coarse === undefined ? -3 : habits.coarse - 0.37 * (i % 7);
        const ratio = Math.exp(theta[i]! + offset - logprobs!.data[i]!);
        const high = Number(loss_fn_config.clip_high_threshold);
        const bound = habits.thresholds === "ratio" ? high : 1 + high;
        const free = loss_fn === "importance_sampling" || ratio <= bound;
        if (free) gradient[i]! -= (ratio * advantages!.data[i]!) / (habits.byLength ? N : 1);
      }
    }
  }
  function pass(p: Pass) {
    const wide = p.data.some(({ loss_fn_inputs }) => loss_fn_inputs.target_tokens!.shape.length > 1);
    if (habits.strict && wide) return Response.json({ detail: "one target at a place" }, { status: 422 });
    if (p.loss_fn === "ppo" && habits.thresholds === undefined) {
      return later({ error: "no such loss", category: "User" });
    }
    const outputs = p.data.map(({ loss_fn_inputs }) => {
      const { data, shape } = loss_fn_inputs.target_tokens!;
      if (shape.length === 1) targets.push([...data]);
      const [, width = 1] = shape;
      const logprobs = Float32Array.from(data, (_, i) => {
        const at = Math.floor(i / width);
        return read(theta[at]!, at);
      });
      return { logprobs: floatTensor(logprobs) };
    });
    if (!p.forward_only) learn(p);
    const output = { loss_fn_output_type: "scalar", loss_fn_outputs: outputs, metrics: {} };
    return later(habits.json ? outputJson(output) : writeOutput(output));
  }
  function step(text: string) {
    if (habits.openRl && /"beta\d":\d+[,}]/.test(text)) {
      const error_message = "betas must be either both floats or both Tensors";
      return Response.json({ type: "RequestFailedResponse", error_message }, { status: 400 });
    }
    const { learning_rate, eps, grad_clip_norm } = adamParams.parse(JSON.parse(text).adam_params);
    const g = gradient.map((x) => x / (habits.byCount ? rows : 1));
    const limited = habits.clips && grad_clip_norm > 0 ? grad_clip_norm / Math.hypot(...g) : 1;
    g.forEach((x, i) => {
      theta[i]! -= (learning_rate * limited * x) / (Math.abs(limited * x) + eps);
    });
    gradient.fill(0);
    rows = 0;
    return later({ metrics: {} });
  }
  function samples(body: unknown) {
    const { prompt, sampling_session_id, sampling_params } = sampleRequest.parse(body);
    const held = samplers[Number(sampling_session_id)]!;
    if (habits.snapshots === "set back") theta.set(held);
    const of = !habits.fresh ? new Float64Array(64) : habits.snapshots === "follow" ? theta : held;
    const n = prompt.chunks.reduce((sum, c) => sum + (c.type === "encoded_text" ? c.tokens.length : 0), 0);
    const all = Array.from({ length: n }, (_, i) => (i === 0 ? null : read(of[i - 1]!, i - 1)));
    const logp = habits.headless ? all.slice(1) : all;
    const own = [read(of[n - 1]!, n - 1)];
    return later({
      sequences: [{ stop_reason: "length", tokens: [sampling_params.max_tokens ?? 1], logprobs: own }],
      ...(!habits.openRl && { prompt_logprobs: logp }),
    });
  }
  const answers: Readonly<Record<string, (body: Buffer) => object | Uint8Array<ArrayBuffer>>> = {
    create_session: () => ({ session_id: "s" }),
    get_server_capabilities: () => ({
      supported_models: [],
      ...(habits.openRl && { single_process: false }),
    }),
    create_model: (body) => {
      const { lora_alpha, lora_dropout } = JSON.parse(body.toString()).lora_config;
      asked.push({ lora_alpha, lora_dropout });
      return later({ model_id: "m" });
    },
    forward_backward: (body) =>
      pass(habits.json ? forwardBackwardRequest.parse(JSON.parse(body.toString())) : readPass(body)),
    forward: (body) =>
      habits.openRl
        ? Response.json({ detail: "Not Found" }, { status: 404 })
        : pass(forwardRequest.parse(JSON.parse(body.toString()))),
    optim_step: (body) => step(body.toString()),
    save_weights_for_sampler: () => later({ sampling_session_id: `${samplers.push(theta.slice()) - 1}` }),
    asample: (body) => samples(JSON.parse(body.toString())),
    retrieve_future: (body) => results[JSON.parse(body.toString()).request_id]!,
  };
  const over = transport({
    url: "http://stub",
    wait: async () => {},
    fetch: async (url, init) => {
      const body = Buffer.from(await new Response(init?.body).arrayBuffer());
      const isProtobuf = new Headers(init?.headers).get("Content-Type") === protobufType;
      if (habits.json && isProtobuf) return Response.json({ detail: "no JSON" }, { status: habits.json });
      const given = answers[String(url).slice("http://stub/api/v1/".length)]?.(body) ?? {};
      if (given instanceof Response) return given;
      if (!(given instanceof Uint8Array)) return Response.json(given);
      return new Response(given, { headers: { "Content-Type": protobufType } });
    },
  });
  return probe(over, by).then((said) => ({ ...said, targets, asked }));
}
async function probe(over: ReturnType<typeof transport>, by: Codec) {
  const session = await openSession(over, "tiny");
  const found = await probeServer(session, { baseModel: "tiny", rank: 4, seed: 1 }, by);
  session.close();
  return { found, said: linesOf(found, "http://stub").join("\n") };
}
const rounded = (x: number | undefined): number => Math.round(100 * (x ?? Number.NaN)) / 100;

test("one that adds up: twice the row is twice the step, a longer row changes nothing", async () => {
  const { found, said } = await tryOut(usual);
  assert.deepEqual([found.twice, found.long, found.clipped, found.beyond].map(rounded), [2, 1, 0, 0]);
  assert.equal(found.reduction, "sum");
  assert.ok(found.samplerGap < 1e-5 && found.staleGap! > 0.1 && found.cooled < 1e-5);
  assert.match(said, /adds losses up/);
});

test("one that divides by length and number: 1 and 7/21, and as we send it 2 and 1 again", async () => {
  const { found, said } = await tryOut({ ...usual, byCount: true, byLength: true });
  assert.deepEqual([found.twice, found.long].map(rounded), [1, 0.33]);
  assert.equal(found.reduction, "sequence-mean");
  assert.deepEqual([found.equalised?.twice, found.equalised?.long].map(rounded), [2, 1]);
  assert.match(said, /made up for/);
});

test("one that divides by one of the two is none that can be made up for", async () => {
  const { found, said } = await tryOut({ ...usual, byLength: true });
  assert.deepEqual([found.twice, found.long].map(rounded), [2, 0.33]);
  assert.equal(found.reduction, "unclear");
  assert.equal(found.equalised, undefined);
  assert.match(said, /neither/);
});

test("limits that are ignored, thresholds that are none of the ratio, losses that are not there", async () => {
  const odd = await tryOut({ ...usual, clips: false, thresholds: "epsilon" });
  // the gradient of ppo at a ratio of 1.5 is 1.5 times the plain one
  assert.deepEqual([odd.found.clipped, odd.found.beyond].map(rounded), [1, 1.5]);
  assert.match(odd.said, /ignored/);
  assert.match(odd.said, /not bounds of the ratio/);
  const bare = await tryOut({ ...usual, thresholds: undefined });
  assert.equal(bare.found.beyond, undefined);
  assert.match(bare.said, /it has no ppo/);
});

test("samples of the weights of before are found out", async () => {
  await assert.rejects(tryOut({ ...usual, fresh: false }), /samples from old weights/);
});

test("several targets at a place: taken, or refused before they are numbered, which says nothing of ppo", async () => {
  assert.equal((await tryOut(usual)).found.several, true);
  assert.equal((await tryOut({ ...usual, thresholds: undefined })).found.several, true);
  const { found } = await tryOut({ ...usual, strict: true });
  assert.deepEqual([found.several, rounded(found.beyond)], [false, 0]);
});

test("snapshots that lose their weights, or set their model back, are found out", async () => {
  const read = await tryOut(usual);
  assert.equal(read.found.keeps, true);
  for (const snapshots of ["follow", "set back"] as const) {
    const { found, said } = await tryOut({ ...usual, snapshots });
    assert.equal(found.keeps, false);
    assert.match(said, /a model of their own/);
    // what is found out about all else is not disturbed
    assert.deepEqual([found.beyond, found.twice].map(rounded), [0, 2]);
  }
});

test("one that reads JSON alone is written to in JSON, under the same numbers, even if it breaks on protobuf", async () => {
  const read = await tryOut(usual);
  for (const json of [422, 500] as const) {
    assert.deepEqual((await tryOut({ ...usual, json })).found, read.found);
  }
});

test("log-probabilities of a prompt that begin with its second token are those of the same tokens", async () => {
  const [whole, headless] = [await tryOut(usual), await tryOut({ ...usual, headless: true })];
  assert.ok(whole.found.samplerGap < 1e-5);
  assert.deepEqual(headless.found, whole.found);
});

test("one without forward passes and log-probabilities of prompts is read through backward passes of weight 0, and samples", async () => {
  const read = await tryOut(usual);
  assert.deepEqual(read.asked[0], { lora_alpha: undefined, lora_dropout: undefined });
  const { found, said, asked } = await tryOut({ ...usual, json: 500, openRl: true });
  assert.deepEqual(asked[0], { lora_alpha: 32, lora_dropout: 0 });
  const { staleGap: _, ...rest } = read.found;
  assert.deepEqual({ ...found, samplerGap: 0 }, { ...rest, samplerGap: 0, keeps: false });
  assert.ok(found.samplerGap < 1e-5);
  assert.match(said, /tells no log-probabilities of prompts/);
});

test("a tokenizer that knows no word of any text is no hindrance: the ids come from all over its vocabulary", async () => {
  const vocabulary = 50_000;
  const padding = { ...codec, vocabulary, encode: (text: string) => new Int32Array(text.length) };
  const { targets } = await tryOut(usual, padding);
  for (const row of targets) {
    assert.equal(new Set(row).size, row.length, `${row}`);
    assert.ok(row.every((id) => id > 0 && id < vocabulary));
    assert.ok(Math.max(...row) - Math.min(...row) > vocabulary / 2, `${row}`);
  }
  assert.deepEqual(new Set(targets.map((row) => row.length)), new Set([7, 21]));
});

test("numbers of 16 bits, in steps of 1/16 nat, hide no reduction and no clip: more and larger steps are taken", async () => {
  for (let i = 0; i < 12; i++) {
    const coarse = -9 - 0.171 * i;
    const sums = await tryOut({ ...usual, coarse });
    assert.equal(sums.found.reduction, "sum", `${coarse}: ${JSON.stringify(sums.found)}`);
    assert.equal(sums.found.numbers, "bfloat16");
    assert.ok(sums.found.clipped < 0.25 && sums.found.beyond! < 0.25, JSON.stringify(sums.found));
    assert.match(sums.said, /log-probabilities in bfloat16/);
    const mean = await tryOut({ ...usual, byCount: true, byLength: true, coarse });
    assert.equal(mean.found.reduction, "sequence-mean", `${coarse}: ${JSON.stringify(mean.found)}`);
    const half = await tryOut({ ...usual, byLength: true, coarse });
    assert.equal(half.found.reduction, "unclear", `${coarse}: ${JSON.stringify(half.found)}`);
  }
});
