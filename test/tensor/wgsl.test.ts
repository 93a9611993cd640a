import { strict as assert } from "node:assert";
import { after, test } from "node:test";
import { differentiate } from "../../src/tensor/differentiate.ts";
import { input, type Tensor } from "../../src/tensor/graph.ts";
import { mul } from "../../src/tensor/ops/mul.ts";
import { packedAttention } from "../../src/tensor/ops/packedAttention.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { sizeOf } from "../../src/tensor/shape.ts";
import { type Gpu, openGpu } from "../../src/tensor/wgsl/device.ts";
import { arena, fromGpu, gpuProgram } from "../../src/tensor/wgsl/program.ts";
import { feedFor, near, uniform, weights } from "./support.ts";
import { type Case, table } from "./table.ts";

const gpu: Gpu | undefined = await openGpu({ checked: true, software: true }).catch((e: Error) => {
  console.log(`no adapter: ${e.message.split("\n")[0]}`);
  return undefined;
});
const shared = gpu && arena(gpu);
after(() => gpu?.close());

async function run(
  inputs: readonly Tensor[],
  outputs: Record<string, Tensor>,
  feeds: ReturnType<typeof typedFeeds>,
) {
  const program = await gpuProgram(gpu!, inputs, outputs, { arena: shared! });
  const results = program.run(feeds);
  const out: Record<string, ArrayLike<number>> = {};
  for (const [name, x] of Object.entries(results)) out[name] = await fromGpu(gpu!, x);
  program.release();
  return out;
}

const feedsOf = (c: Case) => new Map(c.arguments.map((a) => [a.tensor, a.data.map(Math.fround)]));
const typedFeeds = (c: Case) =>
  Object.fromEntries(c.arguments.map((a) => [a.tensor.name!, feedFor(a.tensor, a.data)]));

/** Several tiles of queries and of keys, of which most see nothing of each other; too many numbers for finite differences. */
function longAttention(): Case {
  const T = 150;
  const [q, k, v] = (["q", "k", "v"] as const).map((name, i) => {
    const tensor = input(name, [1, name === "q" ? 2 : 1, T, 8]);
    return { tensor, data: uniform(40 + i, sizeOf(tensor.shape)) };
  });
  // two rows after a beginning that they share, and one for itself
  const data = Float64Array.from({ length: T }, (_, s) => (s < 10 || s >= 80 ? (s < 120 ? 119 : 149) : 79));
  const all = [q!, k!, v!, { tensor: input("end", [1, 1, 1, T], "int32"), data }];
  const [a, b, c, end] = all.map((x) => x.tensor) as [Tensor, Tensor, Tensor, Tensor];
  const result = packedAttention(a, b, c, end, 0.4);
  return { file: "packedAttention", label: "150 positions", arguments: all, result, gradients: [0, 1, 2] };
}

for (const c of [...table, longAttention()]) {
  test(`${c.file}, ${c.label}: kernels agree with the float64 reference, in value and gradient`, {
    skip: !gpu,
  }, async () => {
    const wrt = c.gradients.map((i) => c.arguments[i]!.tensor);
    const gradients =
      wrt.length === 0 ? [] : differentiate([{ of: c.result, cotangent: weights(c.result) }], wrt);
    const all = [c.result, ...gradients];
    const want = evaluate(all, feedsOf(c));
    const got = await run(
      c.arguments.map((a) => a.tensor),
      Object.fromEntries(all.map((t, i) => [`y${i}`, t])),
      typedFeeds(c),
    );
    all.forEach((_, i) => {
      near(got[`y${i}`]!, want[i]!, i === 0 ? 1e-4 : 1e-3, i === 0 ? "value" : `gradient ${i}`);
    });
    assert.ok(gpu);
  });
}

test("a device that is lost is one clear error, at once and later", { skip: !gpu }, async () => {
  const own = await openGpu({ checked: true, software: true });
  const x = input("x", [4]);
  const program = await gpuProgram(own, [x], { y: mul(x, 2) }, { arena: arena(own) });
  const double = async () => [...(await fromGpu(own, program.run({ x: Float32Array.of(1, 2, 3, 4) }).y!))];
  assert.deepEqual(await double(), [2, 4, 6, 8]);
  own.device.destroy();
  for (let i = 0; i < 2; i++)
    await assert.rejects(double(), /the device was lost \(destroyed\).*last checkpoint/);
  own.close();
});
