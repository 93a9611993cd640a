// What sampling that does not depend on concurrency rests on: a row's result is bit for bit the same whatever
// else is computed in the same call. It holds on ONNX Runtime's CPU provider for two rows or more.
import { strict as assert } from "node:assert";
import { test } from "node:test";
import { constant, input, type Tensor } from "../../src/tensor/graph.ts";
import * as t from "../../src/tensor/index.ts";
import { uniform, withSession } from "./support.ts";

const floats = (seed: number, n: number): Float32Array => Float32Array.from(uniform(seed, n));

const perRow: Readonly<Record<string, (x: Tensor, width: number) => Tensor>> = {
  rmsNorm: (x, n) => t.rmsNorm(x, constant(Array.from(floats(1, n)), [n]), 1e-5),
  matmul: (x, n) => t.matmul(x, constant(Array.from(floats(2, n * 24)), [n, 24])),
  "matmul transposed": (x, n) =>
    t.matmul(x, constant(Array.from(floats(2, n * 24)), [24, n]), { transposeB: true }),
  softmax: t.softmax,
  logSoftmax: t.logSoftmax,
  silu: t.silu,
  exp: t.exp,
  "entropy of logits": (x) => {
    const logp = t.logSoftmax(x);
    return t.neg(t.sum(t.mul(t.exp(logp), logp), [-1], { keep: true }));
  },
};

const rows = 32;
for (const width of [96, 101, 607]) {
  const data = floats(width, rows * width);
  for (const [name, op] of Object.entries(perRow)) {
    test(`${name} over ${width}: a row does not depend on the rows beside it`, async () => {
      const part = async (from: number, count: number): Promise<Float32Array> => {
        const x = input("x", [count, width]);
        const feed = data.slice(from * width, (from + count) * width);
        return withSession(
          [x],
          { y: op(x, width) },
          async (s) => (await s.run({ x: feed })).y as Float32Array,
        );
      };
      const all = await part(0, rows);
      const each = all.length / rows;
      for (const count of [2, 3, 5, 16]) {
        for (const from of [0, 13]) {
          assert.deepEqual(
            await part(from, count),
            all.slice(from * each, (from + count) * each),
            `${count} rows`,
          );
        }
      }
    });
  }
}

const [heads, hd, length] = [8, 32, 50];
const queries = 40;
const [q, k, v] = [
  floats(1, heads * queries * hd),
  floats(2, heads * length * hd),
  floats(3, heads * length * hd),
];

/** Causal attention of some of the queries over a cache that is padded with rubbish. Shape [count, T, hd]. */
async function attend(count: number, slots: number, from: number, T: number): Promise<Float32Array> {
  const [Q, K, V] = [
    input("q", [count, T, hd]),
    input("k", [count, slots, hd]),
    input("v", [count, slots, hd]),
  ];
  const mask = input("mask", [T, slots]);
  const padded = (x: Float32Array): Float32Array => {
    const array = new Float32Array(count * slots * hd).fill(3);
    for (let h = 0; h < count; h++)
      array.set(x.subarray(h * length * hd, (h + 1) * length * hd), h * slots * hd);
    return array;
  };
  const asked = new Float32Array(count * T * hd);
  for (let h = 0; h < count; h++) {
    asked.set(q.subarray((h * queries + from) * hd, (h * queries + from + T) * hd), h * T * hd);
  }
  const last = (i: number) => length - queries + from + Math.floor(i / slots);
  const masks = Float32Array.from({ length: T * slots }, (_, i) => (i % slots > last(i) ? -1e9 : 0));
  const scores = t.mul(t.matmul(Q, K, { transposeB: true }), hd ** -0.5);
  const y = t.matmul(t.softmax(t.add(scores, mask)), V);
  const feeds = { q: asked, k: padded(k), v: padded(v), mask: masks };
  return withSession([Q, K, V, mask], { y }, async (s) => (await s.run(feeds)).y as Float32Array);
}

test("attention: a query depends neither on the batch, nor the cache's length, nor the queries beside it", async () => {
  const all = await attend(heads, 64, 0, queries);
  for (const [count, slots, from, T] of [
    [8, 64, 30, 2],
    [3, 64, 0, 40],
    [8, 128, 0, 40],
    [2, 192, 7, 3],
    [5, 61, 38, 2],
  ] as const) {
    const some = await attend(count, slots, from, T);
    for (let h = 0; h < count; h++) {
      const want = all.subarray((h * queries + from) * hd, (h * queries + from + T) * hd);
      const what = `${count} heads, ${slots} slots, ${T} queries from ${from}`;
      assert.deepEqual(some.slice(h * T * hd, (h + 1) * T * hd), want.slice(), what);
    }
  }
});

test("products in tiles of rows: the right numbers, and a row's bits depend on no other row, tile or thread", async () => {
  const [K, N, tile] = [300, 70, 16];
  const [data, weights] = [floats(1, 128 * K), floats(2, N * K)];
  const w = input("w", [N, K]);
  const run = async (
    from: number,
    count: number,
    threads: number,
    rowTile?: number,
  ): Promise<Float32Array> => {
    const x = input("x", [count, K]);
    const y = t.matmul(x, w, { transposeB: true, scale: 0.5 });
    const session = await t.createSession(t.compile([x, w], { y }, rowTile ? { rowTile } : {}), { threads });
    const feed = data.slice(from * K, (from + count) * K);
    return (await session.run({ x: feed, w: weights })).y as Float32Array;
  };
  const plain = await run(0, 128, 2);
  const all = await run(0, 128, 2, tile);
  assert.ok(all.every((v, i) => Math.abs(v - plain[i]!) < 1e-4));
  for (const [from, count] of [
    [7, 2],
    [9, 4],
    [0, 16],
    [5, 16],
    [3, 48],
    [40, 64],
  ] as const) {
    for (const threads of [1, 2, 3]) {
      assert.deepEqual(await run(from, count, threads, tile), all.slice(from * N, (from + count) * N));
    }
  }
  assert.deepEqual(await run(0, 24, 2, tile), await run(0, 24, 2), "rows that make no whole tiles");
});
