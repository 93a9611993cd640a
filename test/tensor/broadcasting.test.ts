import { strict as assert } from "node:assert";
import { test } from "node:test";
import fc from "fast-check";
import { constant, input } from "../../src/tensor/graph.ts";
import { broadcastTo } from "../../src/tensor/ops/broadcastTo.ts";
import { sumTo } from "../../src/tensor/ops/sumTo.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { broadcastShapes, ravel, sizeOf, unravel } from "../../src/tensor/shape.ts";
import { near, uniform } from "./support.ts";

const shape = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 });
/** A shape, and one that broadcasts to it: leading axes dropped, some others set to 1. */
const pair = fc
  .tuple(shape, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), fc.nat(4))
  .map(([to, ones, drop]) => ({ to, from: to.map((n, i) => (ones[i] ? 1 : n)).slice(drop) }));

test("unravel and ravel are inverse", () => {
  fc.assert(
    fc.property(shape, (s) => {
      for (let i = 0; i < sizeOf(s); i++) assert.equal(ravel(unravel(i, s), s), i);
    }),
  );
});

test("broadcastShapes of a shape and one that broadcasts to it is the larger, in both orders", () => {
  fc.assert(
    fc.property(pair, ({ from, to }) => {
      assert.deepEqual(broadcastShapes("test", from, to), to);
      assert.deepEqual(broadcastShapes("test", to, from), to);
    }),
  );
});

test("sumTo is the transpose of broadcastTo: ⟨broadcastTo(x), y⟩ = ⟨x, sumTo(y)⟩", () => {
  fc.assert(
    fc.property(pair, fc.integer(), ({ from, to }, seed) => {
      const [x, y] = [uniform(seed, sizeOf(from)), uniform(seed + 1, sizeOf(to))];
      const small = constant(Array.from(x), from);
      const large = input("y", to);
      const [wide, narrow] = evaluate(
        [broadcastTo(small, to), sumTo(large, from)],
        new Map([[large, y]]),
      ) as [Float64Array, Float64Array];
      const dot = (a: Float64Array, b: Float64Array) => a.reduce((s, v, i) => s + v * b[i]!, 0);
      near([dot(wide, y)], [dot(x, narrow)], 1e-12);
    }),
  );
});
