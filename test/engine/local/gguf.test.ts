// GGUF files that llama.cpp's converter and Python package made (bench/peers/gguf_fixtures.py).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import { randomStream } from "../../../src/core/random.ts";
import { readCheckpoint, readModel } from "../../../src/engine/local/checkpoint.ts";
import { chatCodec } from "../../../src/engine/local/codec.ts";
import { exportGguf } from "../../../src/engine/local/export.ts";
import { halfTable } from "../../../src/engine/local/float16.ts";
import { blockFormats, dequantise } from "../../../src/engine/local/gguf/blocks.ts";
import { openGguf } from "../../../src/engine/local/gguf/file.ts";
import { packedTypes, toFloat16 } from "../../../src/engine/local/gguf/pack.ts";
import { ggufTokenizer } from "../../../src/engine/local/gguf/tokenizer.ts";
import { writeGguf } from "../../../src/engine/local/gguf/write.ts";
import { tokenizerEntries } from "../../../src/engine/local/gguf/writeTokenizer.ts";
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
  return own.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: 64 });
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

/** The file with the change that `edit` makes at a text's end: a key, or the name of a tensor. */
function changed(after: string, edit: (bytes: DataView, at: number) => void): Uint8Array {
  const bytes = whole.slice();
  const found = Buffer.from(bytes.buffer).indexOf(after);
  assert.ok(found >= 0, after);
  edit(new DataView(bytes.buffer), found + after.length);
  return bytes;
}

// behind a tensor's name: the number of axes, two axes, the type, the offset; behind a key: the type, the value
const query = "blk.0.attn_q.weight";
const [axis, type, offset, value] = [4, 20, 24, 4];
const broken: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
  "no bytes": [new Uint8Array(), /broken\.gguf: got 0 bytes/],
  "a few bytes": [whole.slice(0, 20), /got 20 bytes/],
  "cut in the header": [whole.slice(0, 3000), /a truncated header/],
  "cut in the values": [whole.slice(0, -100), /too short for the tensor/],
  "another magic number": [changed("GGU", (b) => b.setUint8(0, 0)), /magic/],
  "another version": [changed("GGUF", (b, at) => b.setUint32(at, 9, true)), /version "9"/],
  "a count of tensors beyond the file": [
    changed("GGUF", (b, at) => b.setBigUint64(at + 4, 1_000_000n, true)),
    /damaged|truncated|exceeds/,
  ],
  "a key that the model needs": [
    changed("qwen3.block_coun", (b, at) => b.setUint8(at, 120)),
    /no qwen3\.block_count/,
  ],
  "a key of another type": [
    changed("qwen3.block_count", (b, at) => b.setUint32(at, 6, true)),
    /qwen3\.block_count: /,
  ],
  "no number": [
    changed("layer_norm_rms_epsilon", (b, at) => b.setFloat32(at + value, Number.NaN, true)),
    /layer_norm_rms_epsilon: .*NaN/,
  ],
  "an array beyond the file": [
    changed("tokenizer.ggml.tokens", (b, at) => b.setBigUint64(at + 8, 1_000_000n, true)),
    /damaged|truncated|exceeds|Unsupported/,
  ],
  "no tokens": [
    changed("tokenizer.ggml.token", (b, at) => b.setUint8(at, 120)),
    /no tokenizer\.ggml\.tokens/,
  ],
  "no merges": [
    changed("tokenizer.ggml.merge", (b, at) => b.setUint8(at, 120)),
    /no tokenizer\.ggml\.merges/,
  ],
  "a missing tensor": [
    changed("blk.0.attn_q.weigh", (b, at) => b.setUint8(at, 120)),
    /no tensor blk\.0\.attn_q/,
  ],
  "another shape": [
    changed(query, (b, at) => {
      b.setBigUint64(at + axis, b.getBigUint64(at + axis, true) / 2n, true);
      b.setBigUint64(at + axis + 8, b.getBigUint64(at + axis + 8, true) * 2n, true);
    }),
    /attn_q\.weight of shape \[\d+, \d+\] instead of/,
  ],
  "values outside of the file": [
    changed(query, (b, at) => b.setBigUint64(at + offset, 2n ** 40n, true)),
    /too short for the tensor blk\.0\.attn_q/,
  ],
  "values of another tensor": [
    changed(query, (b, at) => b.setBigUint64(at + offset, b.getBigUint64(at + offset, true) - 32n, true)),
    /tensors blk\.\S+ and blk\.0\.attn_q\.weight, which share bytes/,
  ],
};
for (const [what, [bytes, said]] of Object.entries(broken))
  test(`a broken file gets one clear line: ${what}`, () =>
    assert.rejects(readBytes(bytes), failsWith("checkpoint.damaged", said)));

test("a file of another kind is refused by name", async () => {
  await assert.rejects(
    readBytes(changed(query, (b, at) => b.setUint32(at + type, 99, true))),
    failsWith("model.unsupported", /blk\.0\.attn_q\.weight in format 99/),
  );
  await assert.rejects(
    readBytes(changed("general.architecture", (b, at) => b.setUint8(at + 12, 120))),
    failsWith("model.unsupported", /architecture "xwen3"/),
  );
  await assert.rejects(readModel(join(scratch, "none.gguf")), failsWith("checkpoint.damaged", /ENOENT/));
  const inside = await mkdtemp(join(scratch, "folder-"));
  await assert.rejects(openGguf(inside), failsWith("checkpoint.damaged", /got a folder/));
  if (process.platform === "win32") return;
  const pipe = join(scratch, "pipe.gguf");
  execFileSync("mkfifo", [pipe]);
  await assert.rejects(openGguf(pipe), failsWith("checkpoint.damaged", /no ordinary file/));
});

test("a count that is wrong is not filled with zeros from behind the end of the file", async () => {
  const bytes = new DataView(new ArrayBuffer(49));
  new Uint8Array(bytes.buffer).set(whole.slice(0, 8));
  bytes.setBigUint64(16, 1n, true); // one key
  bytes.setBigUint64(24, 1n, true); // of one letter
  bytes.setUint8(32, 97);
  bytes.setUint32(33, 9, true); // a list
  bytes.setUint32(37, 8, true); // of texts
  bytes.setBigUint64(41, 1_000_000n, true);
  await assert.rejects(
    readBytes(new Uint8Array(bytes.buffer)),
    failsWith("checkpoint.damaged", /a truncated header/),
  );
});

test("a file that is cut anywhere is refused", async () => {
  const step = Math.ceil(whole.length / 150);
  for (let at = 0; at < whole.length; at += step)
    await assert.rejects(readBytes(whole.slice(0, at)), failsWith("checkpoint.damaged", /bytes|truncated/));
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

for (const name of ["llama", "qwen2", "qwen3", "smollm", "yarn"]) {
  test(`a model is written as llama.cpp's converter writes it: ${name}`, async () => {
    const original = await readModel(join(fixtures, name));
    const to = join(scratch, `${name}.gguf`);
    await writeGguf(to, original, "F32", name);
    await using ours = await openGguf(to);
    await using theirs = await openGguf(join(folder, `${name}.gguf`));
    assert.deepEqual([...ours.tensors.keys()].sort(), [...theirs.tensors.keys()].sort());
    for (const [tensor, { shape }] of theirs.tensors) {
      assert.deepEqual(ours.tensors.get(tensor)?.shape, shape, tensor);
      assert.deepEqual(await ours.read(tensor), await theirs.read(tensor), tensor);
    }
    // of the keys that both write, all that decide how the model computes and how texts are read
    const same = Object.keys(theirs.metadata).filter(
      (key) => key in ours.metadata && /^(tokenizer|\w+\.(?!name))/.test(key),
    );
    const ignored = /^(kv_count|version|general\.(name|size_label)|tokenizer\.ggml\.pre)$/;
    for (const key of same.filter((k) => !ignored.test(k)))
      assert.deepEqual(ours.metadata[key], theirs.metadata[key], key);
    const missing = Object.keys(theirs.metadata).filter(
      (key) => !(key in ours.metadata) && !key.startsWith("general."),
    );
    assert.deepEqual(missing, []);
  });
}

test("what is written is read again: exact in float32, rounded in the other types", async () => {
  const original = await readModel(join(folder, "mixed-0.gguf"));
  const tolerances = { F32: 0, F16: 2 ** -11, BF16: 2 ** -8, Q8_0: 1 / 200 } as const;
  for (const type of packedTypes) {
    const to = join(scratch, `again-${type}.gguf`);
    await writeGguf(to, original, type, "again");
    const again = await readModel(to);
    assert.deepEqual(again.config, original.config);
    assert.deepEqual(again.tokenizer.template, original.tokenizer.template);
    assert.deepEqual([...chatCodec(again.tokenizer).open(chat.messages)], chat.ids);
    for (const [name, values] of original.weights) {
      const got = again.weights.get(name)!;
      // of Q8_0, the error is a share of the largest number of its block
      values.forEach((x, i) => {
        const block = values.subarray(i - (i % 32), i - (i % 32) + 32);
        // the step of the smallest float16 scales
        const least = type === "Q8_0" ? 127 * 2 ** -25 : 2e-8;
        const scale = type === "Q8_0" ? block.reduce((a, b) => Math.max(a, Math.abs(b)), 0) : Math.abs(x);
        assert.ok(
          Math.abs(got[i]! - x) <= tolerances[type] * scale + least,
          `${type} ${name}[${i}] ${got[i]} ${x}`,
        );
      });
    }
  }
  await assert.rejects(writeGguf(join(scratch, "again-F32.gguf"), original, "F32", "again"));
});

test("an exported model allows the sequences that its base allows, not only those of the run", async () => {
  const own = localEngine({ from: join(folder, "qwen3.gguf"), lora: { rank: 1 }, threads: 1 });
  const { contextTokens } = (await readModel(join(folder, "qwen3.gguf"))).config;
  const model = await own.create({ id: "policy", seed: 1, vocabulary: [], contextTokens: contextTokens / 2 });
  const saved = await mkdtemp(join(scratch, "short-"));
  await model.save(saved);
  await own.dispose();
  await exportGguf(saved, join(saved, "whole.gguf"), "F32", "whole");
  assert.equal((await readCheckpoint(saved)).architecture.config.contextTokens, contextTokens / 2);
  assert.equal((await readModel(join(saved, "whole.gguf"))).config.contextTokens, contextTokens);
});

test("Q8_0 and float16 round as gguf does", () => {
  const random = randomStream(1).split("pack");
  const values = Float32Array.from({ length: 4096 }, () => random.normal() * 10 ** (4 * random.next() - 3));
  for (const [i, x] of [0, -0, 65504, 65519, 65520, 1e9, 2 ** -24, 2 ** -25, 3e-8, -1e-5].entries())
    values[i] = x;
  const read = halfTable();
  values.forEach((x) => {
    const bits = toFloat16(x);
    // no neighbour is nearer
    for (const other of [bits - 1, bits + 1]) {
      const neighbour = read[other & 0xffff]!;
      if (!Number.isFinite(neighbour) || !Number.isFinite(read[bits]!)) continue;
      assert.ok(Math.abs(read[bits]! - x) <= Math.abs(neighbour - x), `${x}`);
    }
  });
  assert.deepEqual(
    [65519, 65520, -1e9, Number.NaN].map((x) => read[toFloat16(x)]),
    [65504, Infinity, -Infinity, NaN],
  );
});

test("a tokenizer that llama.cpp has no name for is refused", async () => {
  const original = await readModel(join(fixtures, "smollm"));
  const { template: _, ...own } = original.tokenizer;
  const write = (tokenizer: typeof original.tokenizer) =>
    writeGguf(join(scratch, "refused.gguf"), { ...original, tokenizer }, "F32", "refused");
  await assert.rejects(write(own), failsWith("model.unsupported", /made here/));
  const splitting = { ...original.tokenizer.tokenizer, pre_tokenizer: { type: "Whitespace" } };
  await assert.rejects(
    write({ ...original.tokenizer, tokenizer: splitting }),
    failsWith("model.unsupported", /splits texts in another way/),
  );
});

test("a SentencePiece tokenizer gives SentencePiece's own ids, and is written as it was read", async () => {
  const texts = JSON.parse(await readFile(join(folder, "sentencepiece.json"), "utf8")) as {
    readonly text: string;
    readonly ids: readonly number[];
  }[];
  const file = await openGguf(join(folder, "sentencepiece.gguf"));
  const { tokenizer, config } = ggufTokenizer(file);
  const files = { tokenizer, config, template: String(config.chat_template) };
  const codec = chatCodec(files);
  for (const { text, ids } of texts) {
    assert.deepEqual([...codec.encode(text)], ids, text);
    assert.equal(codec.decode(Int32Array.from(ids)), text.replaceAll("▁", " ")); // one sign stands for both
  }
  // a special token is one id, and what a user writes is none
  const opened = [...codec.open([{ role: "user", content: "</s>" }])];
  assert.equal(opened[0], 1);
  assert.equal(opened.filter((id) => id === 2).length, 0);
  assert.equal(codec.endId, 2);

  const entries = tokenizerEntries(files, codec.vocabulary);
  const metadata = Object.fromEntries(Object.entries(entries).map(([key, { value }]) => [key, value]));
  const again = ggufTokenizer({ ...file, metadata });
  assert.deepEqual(again.tokenizer, tokenizer);
  for (const key of ["tokens", "token_type"])
    assert.deepEqual(metadata[`tokenizer.ggml.${key}`], file.metadata[`tokenizer.ggml.${key}`]);
  const { "tokenizer.ggml.scores": _, ...without } = file.metadata;
  assert.throws(() => ggufTokenizer({ ...file, metadata: without }), /scores of 0 for 700 tokens/);
  await file[Symbol.asyncDispose]();
});
