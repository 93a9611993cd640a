import assert from "node:assert/strict";
import { test } from "node:test";
import {
  readOutput,
  readPass,
  readSamples,
  writeOutput,
  writePass,
  writeSamples,
} from "../../../src/engine/tinker/protobuf.ts";
import {
  forwardBackwardOutput,
  forwardBackwardRequest,
  inputJson,
  outputJson,
  type Pass,
  passJson,
  type SampleResponse,
  sampleResponse,
  samplesJson,
  textInput,
} from "../../../src/engine/tinker/protocol.ts";
import { floatTensor, idTensor, tensorOf } from "../../../src/engine/tinker/tensors.ts";

const hex = (b: Uint8Array): string => Buffer.from(b).toString("hex");
const pass: Pass = {
  model_id: "m",
  seq_id: 1,
  data: [
    { model_input: textInput([1, 2]), loss_fn_inputs: { target_tokens: idTensor(Int32Array.of(2, 3)) } },
  ],
  loss_fn: "cross_entropy",
  loss_fn_config: {},
  forward_only: true,
};

/** A pass with the ids of its inputs in arrays, whatever they were read into. */
const plain = (p: Pass): Pass => ({
  ...p,
  data: p.data.map((d) => ({ ...d, model_input: inputJson(d.model_input) })),
});

// bytes that the descriptor of the API's own client gives for the same messages
test("a pass, an output and samples have the API's bytes", () => {
  const passHex =
    "0a016d10011a380a0c0a0a0a08010000000200000012280a0d7461726765745f746f6b656e7312170a10020000000000000003000000000000001802220102220d63726f73735f656e74726f70793001";
  assert.equal(hex(writePass(pass)), passHex);
  assert.deepEqual(plain(readPass(Buffer.from(passHex, "hex"))), pass);

  const samples: SampleResponse = {
    sequences: [{ stop_reason: "length", tokens: Int32Array.of(5, 6), logprobs: Float32Array.of(-0.5, -1) }],
  };
  const samplesHex = "0a160801120805000000060000001a08000000bf000080bf";
  assert.equal(hex(writeSamples(samples)), samplesHex);
  assert.deepEqual(readSamples(Buffer.from(samplesHex, "hex")), samples);

  const output = {
    loss_fn_output_type: "scalar",
    loss_fn_outputs: [{ logprobs: floatTensor(Float32Array.of(-0.5, -1)) }],
    metrics: { "loss:sum": 1.5 },
  };
  const outputHex =
    "0a067363616c6172122e122a0a086c6f6770726f6273121e0a08000000bf000080bf121000000000000000000800000000000000180118011a130a086c6f73733a73756d11000000000000f83f";
  assert.equal(hex(writeOutput(output)), outputHex);
  assert.deepEqual(readOutput(Buffer.from(outputHex, "hex")), output);
});

test("what is written is read again: settings, several datums, prompts with their most probable tokens", () => {
  const two: Pass = {
    model_id: "m",
    data: [pass.data[0]!, { model_input: textInput([9]), loss_fn_inputs: {} }],
    loss_fn: "ppo",
    loss_fn_config: { clip_low_threshold: 0.8, kind: "soft" },
    forward_only: false,
  };
  assert.deepEqual(plain(readPass(writePass(two))), two);
  assert.deepEqual(forwardBackwardRequest.parse(JSON.parse(JSON.stringify(passJson(two)))), two);

  const output = {
    loss_fn_output_type: "ArrayRecord",
    loss_fn_outputs: [
      { logprobs: floatTensor(Float32Array.of(-1)) },
      { logprobs: floatTensor(Float32Array.of(-2, -3)) },
    ],
    metrics: {},
  };
  assert.deepEqual(readOutput(writeOutput(output)), output);
  assert.deepEqual(forwardBackwardOutput.parse(outputJson(output)), output);

  const samples: SampleResponse = {
    sequences: [{ stop_reason: "stop", tokens: Int32Array.of(7) }],
    prompt_logprobs: Float32Array.of(Number.NaN, -0.25),
    topk_prompt_logprobs: [
      null,
      [
        [4, -0.25],
        [5, -2],
      ],
    ],
  };
  assert.deepEqual(readSamples(writeSamples(samples)), samples);
  assert.deepEqual(
    sampleResponse.parse(JSON.parse(JSON.stringify(samplesJson(samples)))).topk_prompt_logprobs,
    [
      null,
      [
        [4, -0.25],
        [5, -2],
      ],
    ],
  );
});

test("sparse targets become dense: [2, 3] with 5 at (0, 1) and 7 at (1, 0)", () => {
  const json = passJson(pass);
  const sparse = {
    data: [5, 7],
    dtype: "int64",
    shape: [2, 3],
    sparse_crow_indices: [0, 1, 2],
    sparse_col_indices: [1, 0],
  };
  const datum = { model_input: textInput([1, 2]), loss_fn_inputs: { target_tokens: sparse } };
  const read = forwardBackwardRequest.parse({
    ...json,
    forward_backward_input: { data: [datum], loss_fn: "cross_entropy" },
  });
  assert.deepEqual(read.data[0]?.loss_fn_inputs.target_tokens, tensorOf("int64", [0, 5, 0, 7, 0, 0], [2, 3]));
});

test("sparse indices that do not fit are refused before they are made dense", () => {
  const json = passJson(pass);
  const whole = { shape: [2, 3], sparse_crow_indices: [0, 1, 2], sparse_col_indices: [1, 0] };
  for (const part of [
    { shape: [2, 300_000_000] },
    { shape: [6] },
    { sparse_crow_indices: [0, 1] },
    { sparse_crow_indices: [0, 2, 1] },
    { sparse_col_indices: [1, 3] },
    { sparse_col_indices: [1] },
  ]) {
    const target_tokens = { data: [5, 7], dtype: "int64", ...whole, ...part };
    const datum = { model_input: textInput([1, 2]), loss_fn_inputs: { target_tokens } };
    const forward_backward_input = { data: [datum], loss_fn: "cross_entropy" };
    const read = forwardBackwardRequest.safeParse({ ...json, forward_backward_input });
    assert.match(String(read.error), /got (a sparse tensor|sparse indices)/, JSON.stringify(part));
  }
});

test("of a body that would fill the memory little is read", () => {
  // field 3, a datum, of no bytes
  assert.throws(
    () => readPass(new Uint8Array(2 ** 22).map((_, i) => (i % 2 === 0 ? 0x1a : 0))),
    /1048576 parts/,
  );
  const json = passJson(pass);
  const errorOf = (data: unknown): string =>
    forwardBackwardRequest.safeParse({ ...json, forward_backward_input: { data, loss_fn: "cross_entropy" } })
      .error?.message ?? "none";
  assert.match(errorOf(Array(8193).fill(1)), /expected array to have <=8192 items/);
  const tokens = Array(1e6).fill(1.5);
  const long = errorOf([{ model_input: { chunks: [{ type: "encoded_text", tokens }] }, loss_fn_inputs: {} }]);
  assert.match(long, /expected whole numbers of 32 bits/);
  assert.ok(long.length < 1000, `${long.length} characters for one mistake`);
});

test("a body that is cut, or holds half a number, is refused", () => {
  assert.throws(() => readPass(writePass(pass).subarray(0, 30)));
  // sequences { tokens: 3 bytes }
  assert.throws(() => readSamples(Buffer.from("0a051203000000", "hex")), /3 bytes/);
});
