import assert from "node:assert/strict";
import { test } from "node:test";
import { constant } from "../../src/advantage/constant.ts";
import { evidenceOf } from "../core/make.ts";

test("constant is one number on every token of every unit, with feedback or without", () => {
  const { advantages } = constant(0.5).apply(
    evidenceOf([[1, undefined], [0]], (g) => g + 1),
    null,
    undefined,
  );
  assert.deepEqual(
    [...advantages].map(([id, xs]) => [id, [...xs]]),
    [
      ["0.0", [0.5, 0.5]],
      ["0.1", [0.5, 0.5]],
      ["1.0", [0.5, 0.5, 0.5, 0.5]],
    ],
  );
});

test("constant adds to what is there", () => {
  const soFar = new Map([["0.0", Float32Array.of(1, 2)]]);
  const { advantages } = constant().apply(evidenceOf([[1]]), null, soFar);
  assert.deepEqual([...advantages.get("0.0")!], [2, 3]);
});
