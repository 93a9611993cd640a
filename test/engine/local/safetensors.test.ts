import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  type NamedTensor,
  openSafetensors,
  writeSafetensors,
} from "../../../src/engine/local/safetensors.ts";
import { allTensors } from "./chatModels.ts";
import { failsWith } from "./support.ts";

let root = "";
before(async () => {
  root = await mkdtemp(join(tmpdir(), "whetstone-safetensors-"));
});
after(() => rm(root, { recursive: true, force: true }));
const at = (name: string): string => join(root, name);

/** A file of one tensor `x`, from raw bytes. */
async function rawFile(path: string, dtype: string, shape: readonly number[], values: Uint8Array) {
  const text = new TextEncoder().encode(
    JSON.stringify({ x: { dtype, shape, data_offsets: [0, values.length] } }),
  );
  const prefix = new Uint8Array(8);
  new DataView(prefix.buffer).setBigUint64(0, BigInt(text.length), true);
  await writeFile(path, Buffer.concat([prefix, text, values]));
}

const bytesOf = (values: Uint16Array): Uint8Array => new Uint8Array(values.buffer);

test("writeSafetensors writes the format byte by byte", async () => {
  const path = at("bytes.safetensors");
  const data = Float32Array.of(1, -2, 0.5, 3);
  await writeSafetensors(path, [
    { name: "a", shape: [1, 2], data: data.subarray(0, 2) },
    { name: "b", shape: [2], data: data.subarray(2) },
  ]);
  const bytes = new Uint8Array(await readFile(path));
  const view = new DataView(bytes.buffer);
  const length = Number(view.getBigUint64(0, true));
  assert.equal(length % 8, 0, "values are aligned");
  const header = new TextDecoder().decode(bytes.subarray(8, 8 + length));
  assert.equal(header[0], "{");
  assert.deepEqual(JSON.parse(header), {
    __metadata__: { format: "pt" },
    a: { dtype: "F32", shape: [1, 2], data_offsets: [0, 8] },
    b: { dtype: "F32", shape: [2], data_offsets: [8, 16] },
  });
  assert.equal(bytes.length, 8 + length + 16);
  // 1 = 0x3f800000 and −2 = 0xc0000000, least byte first
  assert.deepEqual([...bytes.subarray(8 + length, 16 + length)], [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
  assert.equal(view.getFloat32(16 + length, true), 0.5);
});

test("openSafetensors gives every bit back", async () => {
  const path = at("round.safetensors");
  const data = Float32Array.of(1e-42, -0, 3.4e38, Math.fround(0.1));
  const tensors: NamedTensor[] = [
    { name: "x.weight", shape: [2, 2], data },
    { name: "nothing", shape: [0], data: new Float32Array() },
    { name: "scalar", shape: [], data: Float32Array.of(7) },
    { name: "ünï", shape: [1], data: Float32Array.of(8) },
  ];
  await writeSafetensors(path, tensors);
  assert.deepEqual([...(await allTensors(path)).values()], tensors);
});

test("openSafetensors reads float16: numbers, the smallest ones, both zeros", async () => {
  const path = at("half.safetensors");
  // sign, 5 bits of exponent, 10 of fraction: 1, −2, 65504, the smallest normal 2^-14, the smallest of all 2^-24, 1/3
  const bits = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3555, 0x0000, 0x8000);
  await rawFile(path, "F16", [2, 4], bytesOf(bits));
  const third = 2 ** -2 * (1 + 0x155 / 1024);
  assert.deepEqual(
    [...(await allTensors(path)).get("x")!.data],
    [1, -2, 65504, 2 ** -14, 2 ** -24, third, 0, -0],
  );
});

test("openSafetensors reads bfloat16, and writeSafetensors rounds to it, to even on a tie", async () => {
  const path = at("brain.safetensors");
  await rawFile(path, "BF16", [3], bytesOf(Uint16Array.of(0x3f80, 0xc040, 0x0001)));
  // the upper half of float32: 1, −3, and the smallest, 2^-133
  assert.deepEqual([...(await allTensors(path)).get("x")!.data], [1, -3, 2 ** -133]);

  const written = at("rounded.safetensors");
  // 8 bits of significand: 1 + 1/256 lies halfway to 1 + 1/128 and goes to the even 1; a little more goes up
  const data = Float32Array.of(1 + 1 / 256, 1 + 1 / 256 + 2 ** -20, 1 + 3 / 256, -5);
  await writeSafetensors(written, [{ name: "x", shape: [4], data }], "BF16");
  assert.deepEqual([...(await allTensors(written)).get("x")!.data], [1, 1 + 1 / 128, 1 + 1 / 64, -5]);
  assert.equal((await readFile(written)).length % 8, 0);
});

test("openSafetensors names a tensor that is no number, or of another type", async () => {
  const half = at("nan.safetensors");
  await rawFile(half, "F16", [2], bytesOf(Uint16Array.of(0x3c00, 0x7e00)));
  await assert.rejects(allTensors(half), failsWith("checkpoint.damaged", /x\[1\] = NaN/));
  await rawFile(half, "BF16", [1], bytesOf(Uint16Array.of(0x7f80)));
  await assert.rejects(allTensors(half), failsWith("checkpoint.damaged", /x\[0\] = Infinity/));
  await rawFile(half, "I8", [2], Uint8Array.of(1, 2));
  await assert.rejects(allTensors(half), failsWith("checkpoint.damaged", /x of type I8/));
});

test("openSafetensors never takes a header with one bit flipped for another file of the same tensors", async () => {
  const path = at("flipped.safetensors");
  const data = Float32Array.from({ length: 12 }, (_, i) => i + 1);
  await writeSafetensors(path, [
    { name: "first", shape: [2, 3], data: data.subarray(0, 6) },
    { name: "second", shape: [6], data: data.subarray(6) },
  ]);
  const whole = new Uint8Array(await readFile(path));
  const length = Number(new DataView(whole.buffer).getBigUint64(0, true));
  // every third: each bit of a byte gets its turn
  for (let bit = 0; bit < 8 * (8 + length); bit += 3) {
    const bytes = whole.slice();
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    await writeFile(path, bytes);
    let read: Map<string, NamedTensor>;
    try {
      read = await allTensors(path);
    } catch (e) {
      failsWith("checkpoint.damaged", /flipped\.safetensors: got/)(e);
      continue;
    }
    // what is read under its own name and shape is right; the rest is missed by the one who asks for it
    for (const [name, shape, from] of [
      ["first", "2,3", 0],
      ["second", "6", 6],
    ] as const) {
      const tensor = read.get(name);
      if (tensor?.shape.join() === shape) {
        assert.deepEqual(tensor.data, data.slice(from, from + 6), `bit ${bit}`);
      }
    }
  }
});

test("openSafetensors reads a tensor far into a file without reading what is before it", async () => {
  const path = at("sparse.safetensors");
  const gap = 3 * 2 ** 30;
  const text = new TextEncoder().encode(
    JSON.stringify({
      far: { dtype: "F32", shape: [2], data_offsets: [gap, gap + 8] },
      gap: { dtype: "F32", shape: [gap / 4], data_offsets: [0, gap] },
    }),
  );
  const prefix = new Uint8Array(8);
  new DataView(prefix.buffer).setBigUint64(0, BigInt(text.length), true);
  await writeFile(path, Buffer.concat([prefix, text]));
  // a file with a hole takes no room on the disk
  await truncate(path, 8 + text.length + gap);
  await writeFile(path, new Uint8Array(Float32Array.of(5, 6).buffer), { flag: "a" });
  await using file = await openSafetensors(path);
  assert.deepEqual([...(await file.read("far"))], [5, 6]);
});

test("writeSafetensors says where it could not write", async () => {
  await assert.rejects(
    writeSafetensors(at("not/there.safetensors"), []),
    failsWith("disk.write", /not\/there/),
  );
});
