// GGUF files that llama.cpp's converter and Python package made (bench/peers/gguf_fixtures.py).
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { readCheckpoint, readModel } from "../../../src/engine/local/checkpoint.ts";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import { blockFormats, dequantise } from "../../../src/engine/local/gguf/blocks.ts";
import { openGguf } from "../../../src/engine/local/gguf/file.ts";
import { localEngine } from "../../../src/engine/local/index.ts";
import {
  batch,
  chat,
  everyToken,
  fixtures,
  largestGap,
  logSoftmax,
  requireWithin,
  tensorsAt,
} from "./fixtures/compare.ts";
import { failsWith } from "./support.ts";

const folder = join(fixtures, "gguf");
const scratch = await mkdtemp(join(tmpdir(), "whetstone-gguf-"));
after(() => rm(scratch, { recursive: true }));

interface Blocks {
  readonly type: number;
  readonly data: string;
  readonly values: string;
}
const blocks = JSON.parse(await readFile(join(folder, "blocks.json"), "utf8")) as Record<string, Blocks>;
const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));

for (const [name, { type, data, values }] of Object.entries(blocks)) {
  test(`blocks of ${name} become the very numbers that gguf makes of them`, () => {
    const format = blockFormats.get(type)!;
    assert.equal(format.name, name);
    const got = dequantise(format, bytesOf(data));
    const want = new Float32Array(bytesOf(values).buffer);
    assert.equal(got.length, want.length);
    assert.deepEqual(got, want);
  });
}

test("every format that is known has blocks to compare with", () => {
  assert.deepEqual(Object.keys(blocks).sort(), [...blockFormats.values()].map((f) => f.name).sort());
});

for (const name of ["llama", "llama3", "qwen2", "qwen3", "smollm", "smollm3", "yarn"]) {
  test(`llama.cpp's conversion of ${name} is read as the folder that it was made from`, async () => {
    const file = await readModel(join(folder, `${name}.gguf`));
    const original = await readModel(join(fixtures, name));
    const { unturned, ropeScaling, ...rest } = file.config;
    const { unturned: every, ropeScaling: scaling, ...want } = original.config;
    // of the folder, the converter got another base, factor and original length: those of published models
    assert.deepEqual(rest, name === "llama3" ? { ...want, ropeTheta: 5e8 } : want);
    if (name === "smollm3")
      assert.deepEqual([unturned, every], [[], [1]]); // a file cannot say it: every fourth layer
    else assert.deepEqual(unturned, every);
    if (scaling?.type === "llama3") {
      assert.deepEqual(ropeScaling, { ...scaling, factor: 32, originalTokens: 8192 });
    } else if (scaling?.type === "yarn" && ropeScaling?.type === "yarn") {
      assert.deepEqual(
        { ...ropeScaling, attention: Math.fround(ropeScaling.attention) },
        { ...scaling, attention: Math.fround(scaling.attention) },
      );
    } else assert.deepEqual(ropeScaling, scaling);
    assert.deepEqual([...file.weights.keys()], [...original.weights.keys()]);
    for (const [tensor, values] of original.weights)
      assert.deepEqual(file.weights.get(tensor), values, tensor);
    const [ours, theirs] = [chatCodec(file.tokenizer), chatCodec(original.tokenizer)];
    assert.deepEqual([ours.vocabulary, ours.endId], [theirs.vocabulary, theirs.endId]);
    assert.deepEqual([...ours.open(chat.messages)], chat.ids);
    for (const text of ["the user in an answer", "use  the\n\nuser", "<|im_end|>"]) {
      assert.deepEqual(ours.encode(text), theirs.encode(text));
    }
  });
}

for (const n of [0, 1]) {
  test(`a model of mixed formats has the logits of its dequantised weights: mixed-${n}`, async (t) => {
    const from = join(folder, `mixed-${n}.gguf`);
    const model = await localEngineOf(from);
    const { width, ids } = everyToken(model.codec.vocabulary);
    const { at } = await model.score(batch, { at: { ids, width } });
    const expected = (await tensorsAt(join(folder, `mixed-${n}.safetensors`))).get("logits")!;
    requireWithin(t, "log-probabilities", largestGap(at!, logSoftmax(expected, width)), 2e-5);
  });
}

async function localEngineOf(from: string) {
  const own = localEngine({ from, threads: 1 });
  after(() => own.dispose());
  return own.create({ id: "policy", seed: 1, lexicon: [], contextTokens: 64 });
}

test("a model from a GGUF file is saved as a folder, and read again as the same", async () => {
  const from = join(folder, "mixed-0.gguf");
  const model = await localEngineOf(from);
  await model.save(scratch);
  const [saved, file] = [await readCheckpoint(scratch), await readModel(from)];
  assert.deepEqual(saved.tokenizer, file.tokenizer);
  assert.deepEqual(saved.contents.weights, file.weights);
  await model.load(scratch); // which compares shape and tokenizer
});

const whole = new Uint8Array(await readFile(join(folder, "qwen3.gguf")));

async function readBytes(bytes: Uint8Array): Promise<void> {
  const file = join(scratch, "broken.gguf");
  await writeFile(file, bytes);
  await readModel(file);
}

test("broken files get one clear line", async () => {
  await assert.rejects(
    readBytes(new Uint8Array()),
    failsWith("checkpoint.damaged", /broken\.gguf: got 0 bytes/),
  );
  await assert.rejects(readBytes(whole.slice(0, 20)), failsWith("checkpoint.damaged", /got 20 bytes/));
  await assert.rejects(readBytes(whole.slice(0, 3000)), failsWith("checkpoint.damaged"));
  await assert.rejects(
    readBytes(whole.slice(0, -100)),
    failsWith("checkpoint.damaged", /too short for the tensor/),
  );
  const noMagic = whole.slice();
  noMagic[0] = 0;
  await assert.rejects(readBytes(noMagic), failsWith("checkpoint.damaged", /magic/));
  const version = whole.slice();
  version[4] = 9;
  await assert.rejects(readBytes(version), failsWith("checkpoint.damaged", /version "9"/));
  await assert.rejects(readModel(join(scratch, "none.gguf")), failsWith("checkpoint.damaged", /ENOENT/));
});

test("cut or flipped anywhere, a file is read or refused, and nothing else", async () => {
  await using file = await openGguf(join(folder, "qwen3.gguf"));
  assert.ok(file.tensors.size > 10);
  const change = fc.record({
    at: fc.nat(whole.length - 1),
    byte: fc.integer({ min: 0, max: 255 }),
    cut: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ at, byte, cut }) => {
      const bytes = cut ? whole.slice(0, at) : whole.slice();
      if (!cut) bytes[at] = byte;
      await readBytes(bytes).catch((e: unknown) => {
        assert.ok(isWhetstoneError(e), `${at} ${byte} ${cut}: ${e instanceof Error ? e.stack : e}`);
        assert.ok(!e.message.includes("\n"));
      });
    }),
    { numRuns: 150, seed: 1 },
  );
});
