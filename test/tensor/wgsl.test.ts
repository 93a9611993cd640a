import { strict as assert } from "node:assert";
import { after, test } from "node:test";
import { differentiate } from "../../src/tensor/differentiate.ts";
import type { Tensor } from "../../src/tensor/graph.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { type Gpu, openGpu } from "../../src/tensor/wgsl/device.ts";
import { arena, fromGpu, gpuProgram } from "../../src/tensor/wgsl/program.ts";
import { feedFor, near, weights } from "./support.ts";
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

for (const c of table) {
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
