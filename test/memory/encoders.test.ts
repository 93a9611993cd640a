import assert from "node:assert/strict";
import { test } from "node:test";
import { dot, packVector, unitVector, unpackVector } from "../../src/core/encoder.ts";
import { hashedText, wordsIn } from "../../src/memory/hashedText.ts";

test("a vector of length 1 keeps its direction, and zeros stay zeros", () => {
  // |(3, 4)| = 5
  assert.deepEqual([...unitVector([3, 4])], [Math.fround(0.6), Math.fround(0.8)]);
  assert.deepEqual([...unitVector([0, 0])], [0, 0]);
});

test("packing makes the greatest number 127, errs by half a scale at the most, and changes nothing a second time", () => {
  // scale 0.5 / 127; 0.25 / scale = 63.5, which rounds to 64; -0.1 / scale = -25.4 to -25
  const packed = packVector([0.5, 0.25, -0.1]);
  assert.deepEqual([...packed.bytes], [127, 64, -25]);
  const again = packVector(unpackVector(packed));
  assert.deepEqual(again, packed);
  const vector = Array.from({ length: 100 }, (_, i) => Math.sin(i * i));
  const { scale, bytes } = packVector(vector);
  for (const [i, x] of vector.entries())
    assert.ok(Math.abs(x - scale * bytes[i]!) <= scale * 0.5001, `number ${i}`);
  assert.deepEqual([...packVector([0, 0]).bytes], [0, 0]);
});

test("words are runs of letters and digits of any script, in small letters", () => {
  assert.deepEqual(wordsIn("Überfall um 7, naïve Größe!"), ["überfall", "um", "7", "naïve", "größe"]);
  assert.deepEqual(wordsIn(" … "), []);
});

test("hashed texts: length 1, equal for equal texts, closer the more words and stems are shared", async () => {
  const encoder = hashedText();
  const [a, b, c, d, e, nothing] = await encoder.embed([
    "the printer jams when it prints on thick paper",
    "printers jam on thick papers",
    "the refund for my order has not arrived",
    "THE PRINTER JAMS, when it prints on thick paper!",
    "printr jms when prnting on thick papr",
    "…",
  ]);
  assert.ok(Math.abs(dot(a!, a!) - 1) < 1e-6);
  assert.deepEqual(a, d);
  assert.ok(dot(a!, b!) > 0.35, `a common stem: ${dot(a!, b!)}`);
  assert.ok(dot(a!, e!) > 0.3, `slips of the pen: ${dot(a!, e!)}`);
  assert.ok(Math.abs(dot(a!, c!)) < 0.2, `nothing in common: ${dot(a!, c!)}`);
  assert.deepEqual([...nothing!], [...new Float32Array(encoder.width)]);
});

test("the cosine of two texts is that of their words, give or take one over the root of the width", async () => {
  // without parts: "red green blue" and "red green black" share 2 of 3 words of equal weight: 2 / (√3 √3) = 2/3
  const encoder = hashedText({ width: 4096, parts: 0 });
  const [a, b] = await encoder.embed(["red green blue", "red green black"]);
  assert.ok(Math.abs(dot(a!, b!) - 2 / 3) < 0.05, `${dot(a!, b!)}`);
});
