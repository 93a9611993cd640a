import assert from "node:assert/strict";
import { test } from "node:test";
import { atTargets, carrierData, scoringData } from "../../../src/engine/tinker/datum.ts";
import { batchOf } from "../local/support.ts";

// targets at positions 2 and 3 of [5, 6, 7, 8]: places 1 and 2 of [5, 6, 7], which predict 7 and 8
const rows = batchOf([
  { tokens: [5, 6, 7, 8], targets: [2, 3] },
  { tokens: [5, 9], targets: [1] },
]);
const inputsOf = (data: ReturnType<typeof scoringData>) =>
  data.map(({ loss_fn_inputs }) =>
    Object.fromEntries(Object.entries(loss_fn_inputs).map(([name, { data: xs }]) => [name, [...xs]])),
  );

test("a row is read without its last token, and asked for what follows each", () => {
  const data = scoringData(rows);
  assert.deepEqual(
    data.map(({ model_input }) => model_input.chunks),
    [
      [{ type: "encoded_text", tokens: Int32Array.of(5, 6, 7) }],
      [{ type: "encoded_text", tokens: Int32Array.of(5) }],
    ],
  );
  assert.deepEqual(inputsOf(data), [
    { target_tokens: [6, 7, 8], weights: [0, 0, 0] },
    { target_tokens: [9], weights: [0] },
  ]);
  const perDatum = [Float32Array.of(-1, -2, -3), Float32Array.of(-4)];
  assert.deepEqual(atTargets(rows, perDatum), Float32Array.of(-2, -3, -4));
});

test("cotangents travel as advantages of the opposite sign, and are multiplied by what a server divides by", () => {
  const logp = Float32Array.of(-2, -3, -4);
  const cotangent = Float32Array.of(0.5, -1, 2);
  assert.deepEqual(inputsOf(carrierData(rows, logp, cotangent, "sum", 2)), [
    { target_tokens: [6, 7, 8], logprobs: [0, -2, -3], advantages: [0, -0.5, 1] },
    { target_tokens: [9], logprobs: [-4], advantages: [-2] },
  ]);
  // lengths 3 and 1, two datums: times 6 and 2
  assert.deepEqual(
    inputsOf(carrierData(rows, logp, cotangent, "sequence-mean", 2)).map(({ advantages }) => advantages),
    [[0, -3, 6], [-4]],
  );
});
