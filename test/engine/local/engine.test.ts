// The engine as a whole: its thread, its errors, its end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import type { Wanted } from "../../../src/core/outputs.ts";
import { tryDevice } from "../../../src/engine/local/devices.ts";
import { type LocalOptions, localEngine } from "../../../src/engine/local/index.ts";
import { batchOf, bench, codec, coefficientsFor, failsWith, linear, randomBatch, rowsOf } from "./support.ts";

const small: LocalOptions = {
  size: { width: 16, layers: 1, heads: 2, kvHeads: 1, feedForward: 32 },
  threads: 1,
};
const request = { id: "policy", seed: 7, vocabulary: ["a b c"], contextTokens: 32 };

test("localEngine makes the same model from the same seed, another from another", async () => {
  const engine = localEngine(small);
  const scores: string[] = [];
  for (const [id, seed] of [
    ["policy", 7],
    ["policy", 7],
    ["policy", 8],
    ["critic", 7],
  ] as const) {
    const model = await engine.create({ ...request, id, seed });
    const rows = rowsOf([[...model.codec.open([{ role: "user", content: "a b c" }])]]);
    scores.push((await model.score(rows)).logp.join());
    assert.equal(model.contextTokens, 32);
    // V D + 2 D + q, k, v, o + three of the block + D
    assert.equal(model.parameters, 10 * 16 + 2 * 16 + 16 * (16 + 8 + 8 + 16) + 3 * 16 * 32 + 16);
  }
  assert.equal(scores[0], scores[1]);
  assert.equal(new Set(scores).size, 3);
  await engine.dispose();
});

test("localEngine with bytes takes any text", async () => {
  const engine = localEngine({ ...small, tokenizer: "bytes" });
  const { codec, sample } = await engine.create(request);
  const [said] = await sample([
    { prompt: codec.open([{ role: "user", content: "🐈" }]), maxTokens: 3, seed: 1 },
  ]);
  assert.ok(said!.action.length > 0);
  await engine.dispose();
});

for (const [what, options] of [
  ["heads that do not divide the width", { size: { ...small.size!, heads: 3 } }],
  ["an odd width of a head", { size: { ...small.size!, width: 6, heads: 2 } }],
  ["key heads that do not divide the heads", { size: { ...small.size!, heads: 4, kvHeads: 3 } }],
  ["no layer", { size: { ...small.size!, layers: 0 } }],
  ["no thread", { threads: 0 }],
  ["too many threads", { threads: 64 }],
] as const satisfies [string, LocalOptions][]) {
  test(`localEngine refuses ${what}`, () => {
    assert.throws(() => localEngine(options), failsWith("option.range"));
  });
}

test("a wish for a head or a layer that the model has not is refused", async () => {
  await using engine = bench();
  const { model, config } = await engine.make({ layers: 1 });
  const batch = randomBatch([6], "wishes");
  const wishes: readonly [Wanted, ReturnType<typeof failsWith>][] = [
    [{ heads: ["value"] }, failsWith("capability.missing", /unknown value heads value/)],
    [{ hidden: [2] }, failsWith("option.range", /layers \[2\]/)],
    [{ hidden: [-3] }, failsWith("option.range", /layers \[-3\]/)],
    [{ topk: config.vocabulary + 1 }, failsWith("option.range", /top-k/)],
  ];
  const objective = linear(coefficientsFor(batch, "wishes"));
  const frozen = await model.freeze();
  for (const [want, missing] of wishes) {
    await assert.rejects(model.score(batch, want), missing);
    await assert.rejects(frozen.score(batch, want), missing);
    await assert.rejects(model.accumulate(batch, { ...objective, wants: () => want }, null), missing);
  }
});

test("score and accumulate refuse a row longer than the context", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1, contextTokens: 8 });
  const batch = randomBatch([4, 9], "long");
  const tooLong = failsWith("context.tooLong", /a row of 9 tokens, expected at most 8/);
  await assert.rejects(model.score(batch), tooLong);
  await assert.rejects(model.accumulate(batch, linear(coefficientsFor(batch, "long")), null), tooLong);
});

test("a token id outside of the vocabulary is refused, below 0 too", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  for (const id of [-1, codec.vocabulary]) {
    const unknown = failsWith(
      "tokenizer.unknownToken",
      new RegExp(`the token id ${id}, expected ids from 0 to`),
    );
    const batch = batchOf([{ tokens: [4, id, 5], targets: [2] }]);
    const linearly = linear({ logp: Float32Array.of(1) });
    await assert.rejects(model.score(batch), unknown);
    await assert.rejects(model.accumulate(batch, linearly, null), unknown);
    const request = { prompt: Int32Array.of(4, id), maxTokens: 1, seed: 1 };
    await assert.rejects(model.sample([request]), unknown);
    const allowed = [Int32Array.of(id)];
    await assert.rejects(model.sample([{ ...request, prompt: Int32Array.of(4), allowed }]), unknown);
  }
});

test("an error in the engine thread comes back as a WhetstoneError, and the thread goes on", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const none = new Int32Array();
  const packed = { B: 8, T: 16, A: 16, tokens: none, position: none, end: none, context: none, back: none };
  const wrong = { ...packed, targets: none };
  const wish = { entropy: false, topk: 0, at: 0, heads: [], hidden: [] };
  const forward = (handle: number) => engine.host.call("forward", handle, wrong, wish, false);
  await assert.rejects(forward(1), failsWith("engine.failed", /of 128|of 256/));
  await assert.rejects(forward(99), failsWith("engine.failed", /disposed/));
  await assert.rejects(engine.host.call("backward", 1, "main", {}), failsWith("engine.failed"));
  assert.equal((await model.score(rowsOf([[4, 5]]))).logp.length, 1);
});

test("an objective that throws fails its accumulate alone", async () => {
  await using engine = bench();
  const { model } = await engine.make({ layers: 1 });
  const batch = randomBatch([6], "throws");
  const good = linear(coefficientsFor(batch, "throws"));
  const bad = {
    ...good,
    evaluate: () => {
      throw new Error("the objective's own");
    },
  };
  await assert.rejects(model.accumulate(batch, bad, null), /the objective's own/);
  await model.accumulate(batch, good, null);
  assert.equal((await model.step({ learningRate: 0.1 })).skipped, 0);
});

test("dispose may be called twice, in any order; what comes later is refused", async () => {
  const engine = localEngine(small);
  const model = await engine.create(request);
  const other = await engine.create(request);
  await model.dispose();
  await model.dispose();
  await assert.rejects(model.score(rowsOf([[4, 5]])), failsWith("engine.failed", /disposed/));
  const pending = other.score(rowsOf([[4, 5, 6]]));
  const outcome = assert.rejects(pending, failsWith("engine.failed"));
  await engine.dispose();
  await engine.dispose();
  await outcome;
  await other.dispose();
  await assert.rejects(other.score(rowsOf([[4, 5]])), failsWith("engine.failed"));
  await assert.rejects(engine.create(request), failsWith("engine.failed"));
});

/** Runs a small program of its own. @returns its exit code and what it printed. */
function program(code: string): Promise<{ code: number | null; said: string }> {
  const module = new URL("../../../src/engine/local/index.ts", import.meta.url).href;
  const source = `
    const { localEngine } = await import(${JSON.stringify(module)});
    const engine = localEngine(${JSON.stringify(small)});
    const model = await engine.create(${JSON.stringify(request)});
    const samples = model.sample([{ prompt: Int32Array.of(4, 7, 5), maxTokens: 4, seed: 1 }]);
    ${code}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part) => {
      said += part;
    });
  }
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, said })));
}

test("the process ends by itself: after dispose, and without it once nothing is asked", async () => {
  const [disposed, idle] = await Promise.all([
    program("await samples; await engine.dispose(); console.log('done');"),
    // not even awaited: the process stays until the answer is there
    program("samples.then(() => console.log('done'));"),
  ]);
  assert.deepEqual(disposed, { code: 0, said: "done\n" });
  assert.deepEqual(idle, { code: 0, said: "done\n" });
});

test("a device that this machine has not is refused by name; the processor is always there", async () => {
  assert.deepEqual(await tryDevice("cpu"), { device: "cpu", works: true });
  const { works, reason } = await tryDevice("cuda");
  if (works) return; // a machine with CUDA and its build of ONNX Runtime
  assert.ok(reason);
  const engine = localEngine({ ...small, device: "cuda" });
  await assert.rejects(engine.create(request), failsWith("device.missing", /cuda/));
  await engine.dispose();
});
