import { strict as assert } from "node:assert";
import { test } from "node:test";
import { compile } from "../../src/tensor/compile.ts";
import { differentiate } from "../../src/tensor/differentiate.ts";
import { TensorError } from "../../src/tensor/error.ts";
import { constant, input } from "../../src/tensor/graph.ts";
import * as t from "../../src/tensor/index.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { withSession } from "./support.ts";

const x = input("x", [2, 3]);
const y = input("y", [4, 5]);
const ids = input("ids", [2], "int32");
const flags = input("flags", [2, 3], "bool");

/** Each call, and what its message must name. */
const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    "add",
    () => t.add(x, y),
    /add: got shapes \[2, 3\] and \[4, 5\], expected lengths that are equal or 1.*Reshape/,
  ],
  ["mul", () => t.mul(x, ids), /mul: got the second argument of type int32, expected float32.*cast/],
  ["exp", () => t.exp(ids), /exp: got the argument of type int32/],
  ["less", () => t.less(x, ids), /less: got the second argument of type int32, expected float32/],
  ["where", () => t.where(x, x, x), /where: got the condition of type float32, expected bool/],
  ["reshape", () => t.reshape(x, [4]), /reshape: got shape \[4\].*expected a shape of 6 elements/],
  ["transpose", () => t.transpose(x, [0, 0]), /transpose: got permutation \[0, 0\]/],
  ["broadcastTo", () => t.broadcastTo(x, [3]), /broadcastTo: got shape \[3\]/],
  ["concat", () => t.concat([x, y], 0), /concat: got shapes \[2, 3\], \[4, 5\] along axis 0/],
  ["concat", () => t.concat([], 0), /concat: got no tensors/],
  ["slice", () => t.slice(x, 1, 1, 4), /slice: got 1 to 4 on axis 1 of shape \[2, 3\]/],
  ["slice", () => t.slice(x, 2, 0, 1), /slice: got axis 2 for shape \[2, 3\], expected an axis from -2 to 1/],
  ["split", () => t.split(x, [1, 1], 1), /split: got lengths \[1, 1\].*add up to 3/],
  ["embed", () => t.embed(x, 1, 1, 3), /embed: got shape \[2, 3\] from 1 in length 3/],
  ["sum", () => t.sum(x, [5]), /sum: got axis 5/],
  ["sum", () => t.sum(flags), /sum: got the argument of type bool/],
  ["matmul", () => t.matmul(x, x), /matmul: got shapes \[2, 3\] and \[2, 3\].*transposeB/],
  ["gatherRows", () => t.gatherRows(x, x), /gatherRows: got ids of type float32, expected int32/],
  ["addRows", () => t.addRows(ids, y, 3), /addRows: got ids of shape \[2\] and rows of shape \[4, 5\]/],
  ["pick", () => t.pick(y, ids), /pick: got ids of shape \[2\] for a tensor of shape \[4, 5\]/],
  ["place", () => t.place(ids, x, 4), /place: got ids of shape \[2\] and values of shape \[2, 3\]/],
  ["rmsNorm", () => t.rmsNorm(x, constant([1, 2]), 1e-5), /rmsNorm: got a weight of shape \[2\].*\[3\]/],
  ["rotary", () => t.rotary(y, y, y), /rotary: got cos \[4, 5\].*half the width/],
  ["scatterRows", () => t.scatterRows(x, ids, x), /scatterRows: got index \[2\] and updates \[2, 3\]/],
  ["constant", () => constant([1, 2], [3]), /constant: got 2 numbers for shape \[3\]/],
  ["input", () => input("z", [0]), /input: got name "z" and shape \[0\]/],
  ["compile", () => compile([], { z: t.exp(x) }), /compile: got a graph that reads the input "x"/],
  ["compile", () => compile([x], { x: t.exp(x) }), /compile: got the name "x" twice/],
  ["evaluate", () => evaluate([t.exp(x)], new Map()), /evaluate: got no value for the input "x"/],
  ["differentiate", () => differentiate([{ of: x, cotangent: y }], [x]), /differentiate: got a cotangent/],
];

for (const [name, call, message] of wrong) {
  test(`${name} says what was wrong and how to fix it: ${message.source.slice(0, 40)}`, () => {
    assert.throws(call, (e) => {
      assert.ok(e instanceof TensorError);
      assert.match(e.message, message);
      return true;
    });
  });
}

test("a gradient through a cache write is refused", () => {
  const cache = t.scatterRows(x, constant([1], [1, 1], "int32"), constant([1, 2, 3], [1, 3]));
  assert.throws(
    () => differentiate([{ of: cache, cotangent: x }], [x]),
    /scatterRows: got a gradient through a write/,
  );
});

test("a session names the feed that is missing or of the wrong type or size", () =>
  withSession([x, ids], { y: t.add(t.sum(x), t.cast(ids, "float32")) }, async (s) => {
    const good = { x: new Float32Array(6), ids: new Int32Array(2) };
    await s.run({ ...good, unknown: new Float32Array(1) });
    await assert.rejects(s.run({ ids: good.ids }), /feed "x" = nothing, expected Float32Array of 6/);
    await assert.rejects(s.run({ ...good, x: new Float32Array(5) }), /feed "x" = Float32Array of 5/);
    await assert.rejects(
      s.run({ ...good, ids: new Float32Array(2) }),
      /"ids" = Float32Array of 2, expected Int32/,
    );
    await assert.rejects(s.run(good, { y: new Float32Array(3) }), /fetch "y" = Float32Array of 3/);
  }));
