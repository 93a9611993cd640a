import { strict as assert } from "node:assert";
import { test } from "node:test";
import { compile, nameOf, residuals } from "../../src/tensor/compile.ts";
import { differentiate } from "../../src/tensor/differentiate.ts";
import { constant, input } from "../../src/tensor/graph.ts";
import * as t from "../../src/tensor/index.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { data, feeds, gradients, leaves, logp, wrt } from "./decoder.ts";
import { near, runOnce, uniform, withSession } from "./support.ts";

const named = Object.fromEntries(gradients.map((g, i) => [`grad.${wrt[i]!.name}`, g]));

test("a decoder's log-probabilities and gradients agree with the float64 reference", async () => {
  const want = evaluate([logp, ...gradients], data);
  const got = await runOnce(leaves, { logp, ...named }, feeds);
  near(got.logp!, want[0]!, 1e-4, "logp");
  wrt.forEach((w, i) => {
    near(got[`grad.${w.name}`]!, want[i + 1]!, 1e-3, w.name);
  });
});

test("a decoder's gradients agree with finite differences", () => {
  const cotangent = data.get(leaves.at(-1)!)!;
  const exact = evaluate(gradients, data);
  const loss = (changed: Map<t.Tensor, Float64Array>): number =>
    evaluate([logp], new Map([...data, ...changed]))[0]!.reduce((s, x, i) => s + x * cotangent[i]!, 0);
  wrt.forEach((w, k) => {
    const at = data.get(w)!;
    for (const i of [0, Math.floor(at.length / 2), at.length - 1]) {
      const shifted = (by: number) => loss(new Map([[w, at.with(i, at[i]! + by)]]));
      const numeric = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
      near([exact[k]![i]!], [numeric], 1e-6, `${w.name}[${i}]`);
    }
  });
});

test("a program cut at its residuals gives the gradients of the whole program", async () => {
  const whole = await runOnce(leaves, named, feeds);
  const kept = residuals([logp], gradients);
  const forward = { logp, ...Object.fromEntries(kept.map((r) => [nameOf(r), r])) };
  const first = await runOnce(leaves, forward, feeds);
  const second = await runOnce([...leaves, ...kept], named, { ...feeds, ...first });
  for (const name of Object.keys(named)) near(second[name]!, whole[name]!, 1e-6, name);
});

test("residuals keep no inputs, constants or views of what is kept", () => {
  const kept = residuals([logp], gradients);
  const views = ["input", "constant", "reshape", "broadcastTo", "cast", "stopGradient"];
  for (const r of kept) assert.ok(!views.includes(r.op.name), nameOf(r));
  for (const r of kept) {
    if (r.op.name === "transpose") assert.ok(!kept.includes(r.inputs[0]!), "a transpose beside its source");
  }
  assert.equal(new Set(kept).size, kept.length);
});

test("residuals of a reshaped input and of a mask made from inputs are none", () => {
  const x = input("x", [2, 3]);
  const y = t.mul(t.reshape(x, [6]), t.where(t.less(t.reshape(x, [6]), 0), 1, 2));
  const back = differentiate([{ of: y, cotangent: constant(1, [6]) }], [x]);
  assert.deepEqual(
    residuals([y], back).map((r) => r.op.name),
    ["where"],
  );
});

test("differentiate gives zeros where nothing is reached, and stops at stopGradient", () => {
  const [x, z] = [input("x", [2]), input("z", [3])];
  const y = t.mul(x, t.stopGradient(x));
  const grads = differentiate([{ of: y, cotangent: constant([1, 1]) }], [x, z]);
  const got = evaluate(grads, new Map([[x, [3, 4]]]));
  assert.deepEqual(
    got.map((a) => Array.from(a)),
    [
      [3, 4],
      [0, 0, 0],
    ],
  );
});

test("differentiate adds up all paths and reaches inner tensors", () => {
  const x = input("x", [1]);
  const h = t.square(x);
  const y = t.add(t.mul(h, x), h); // x³ + x²; with respect to x: 3x² + 2x; to h as a free value: x + 1
  const grads = differentiate([{ of: y, cotangent: constant([1]) }], [x, h]);
  assert.deepEqual(
    evaluate(grads, new Map([[x, [2]]])).map((a) => Array.from(a)),
    [[16], [3]],
  );
});

test("differentiate can be applied to its own result", () => {
  const x = input("x", [1]);
  const one = constant([1]);
  const [first] = differentiate([{ of: t.tanh(x), cotangent: one }], [x]);
  const [second] = differentiate([{ of: first!, cotangent: one }], [x]);
  const y = Math.tanh(0.3); // (tanh)'' = -2 y (1 - y²)
  near(evaluate([second!], new Map([[x, [0.3]]]))[0]!, [-2 * y * (1 - y * y)], 1e-12);
});

test("the gradient of a split is one concatenation", () => {
  const x = input("x", [2, 6]);
  const [a, b] = t.split(x, [2, 4], 1);
  const y = t.concat([t.exp(b!), t.exp(a!)], 1);
  const [g] = differentiate([{ of: y, cotangent: constant(1, [2, 6]) }], [x]);
  assert.equal(g!.op.name, "concat");
});

test("an input or a constant can be an output, also twice", async () => {
  const x = input("x", [2]);
  const got = await runOnce(
    [x],
    { a: x, b: x, c: constant([7, 8]), d: t.exp(x), e: t.exp(x) },
    { x: Float32Array.of(0, 1) },
  );
  assert.deepEqual(Array.from(got.a!), [0, 1]);
  assert.deepEqual(Array.from(got.b!), [0, 1]);
  assert.deepEqual(Array.from(got.c!), [7, 8]);
  assert.deepEqual(got.d, got.e);
});

test("equal nodes are computed once, and inputs that nothing reads are left out", () => {
  const [x, unused] = [input("x", [2]), input("unused", [2])];
  const program = compile([x, unused], { y: t.mul(t.exp(x), t.exp(x)) });
  assert.equal(program.nodes, 2);
  assert.deepEqual(
    program.inputs.map((p) => p.name),
    ["x"],
  );
});

test("the same graph gives the same bytes", () => {
  const build = () => {
    const x = input("x", [2, 2]);
    return compile([x], { y: t.softmax(t.matmul(x, x)) }).bytes;
  };
  assert.deepEqual(build(), build());
});

test("a cache is updated in place when its output is the array that is fed", async () => {
  const cache = input("cache", [2, 4, 3]);
  const index = input("index", [2, 1, 2], "int32");
  const updates = input("updates", [2, 1, 3]);
  const written = t.scatterRows(cache, index, updates);
  await withSession([cache, index, updates], { next: written, total: t.sum(written, [1, 2]) }, async (s) => {
    const array = new Float32Array(24);
    for (let step = 0; step < 3; step++) {
      const got = await s.run(
        {
          cache: array,
          index: Int32Array.of(0, step, 1, step + 1),
          updates: Float32Array.of(1, 2, 3, 4, 5, 6),
        },
        { next: array },
      );
      assert.equal(got.next, array);
      assert.deepEqual(Array.from(got.total!), [6 * (step + 1), 15 * (step + 1)]);
    }
    assert.deepEqual(
      Array.from(array),
      [1, 2, 3, 1, 2, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 5, 6, 4, 5, 6, 4, 5, 6],
    );
  });
});

test("runInto writes the outputs that are named, in place too, and reports what is wrong", async () => {
  const cache = input("cache", [2, 3]);
  const outputs = { next: t.add(cache, 1), twice: t.mul(cache, 2), total: t.sum(cache) };
  await withSession([cache], outputs, async (s) => {
    const array = Float32Array.of(1, 2, 3, 4, 5, 6);
    const twice = new Float32Array(6);
    await s.runInto({ cache: array }, { twice });
    assert.deepEqual(Array.from(twice), [2, 4, 6, 8, 10, 12]);
    await s.runInto({ cache: array }, { next: array });
    await s.runInto({ cache: array }, { next: array });
    assert.deepEqual(Array.from(array), [3, 4, 5, 6, 7, 8]);
    assert.deepEqual(Object.keys(await s.run({ cache: array })), ["next", "twice", "total"]);
    await assert.rejects(s.runInto({}, { twice }), /feed "cache" = nothing/);
    await assert.rejects(s.runInto({ cache: array }, { twice: new Float32Array(5) }), /output "twice"/);
  });
});

test("runInto reports a failing operator", async () => {
  const index = input("index", [1], "int32");
  const rows = t.gatherRows(constant([1, 2, 3], [3, 1]), index);
  await withSession([index], { rows }, async (s) => {
    const out = new Float32Array(1);
    await assert.rejects(s.runInto({ index: Int32Array.of(7) }, { rows: out }), /indices/);
    await s.runInto({ index: Int32Array.of(2) }, { rows: out });
    assert.equal(out[0], 3);
  });
});

test("twenty runs on two threads are bit for bit equal, and equal to one thread", async () => {
  const run = (threads: number, times: number) =>
    withSession(
      leaves,
      { logp, ...named },
      async (s) => {
        const first = await s.run(feeds);
        for (let i = 1; i < times; i++) assert.deepEqual(await s.run(feeds), first);
        return first;
      },
      threads,
    );
  assert.deepEqual(await run(2, 20), await run(1, 2));
});

test("adding rows up is exact and repeatable when many ids are equal", async () => {
  const [N, D, V] = [6000, 64, 50];
  const [ids, rows] = [input("ids", [N], "int32"), input("rows", [N, D])];
  const feeds = {
    ids: Int32Array.from(uniform(3, N, 0, V)).map((id, i) => (i % 3 ? 7 : id)),
    rows: Float32Array.from(uniform(4, N * D)),
  };
  const want = new Float64Array(V * D);
  for (let i = 0; i < N; i++)
    for (let d = 0; d < D; d++) want[feeds.ids[i]! * D + d]! += feeds.rows[i * D + d]!;
  await withSession([ids, rows], { y: t.addRows(ids, rows, V) }, async (s) => {
    const first = await s.run(feeds);
    near(first.y!, want, 1e-5);
    for (let i = 0; i < 20; i++) assert.deepEqual((await s.run(feeds)).y, first.y);
  });
});
