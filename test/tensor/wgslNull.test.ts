// Kernels that the suite's machines cannot run are at least compiled: Dawn's null backend validates WGSL without a GPU.
import { strict as assert } from "node:assert";
import { after, test } from "node:test";
import { differentiate } from "../../src/tensor/differentiate.ts";
import { coreTile } from "../../src/tensor/wgsl/coreProducts.ts";
import { plan } from "../../src/tensor/wgsl/plan.ts";
import { rowPadding } from "../../src/tensor/wgsl/productShape.ts";
import type { ProductOptions, ProductShape } from "../../src/tensor/wgsl/products.ts";
import { product, splitsOf } from "../../src/tensor/wgsl/products.ts";
import { weights } from "./support.ts";
import { table } from "./table.ts";

const features = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix"] as GPUFeatureName[];

async function nullDevice(): Promise<GPUDevice | undefined> {
  try {
    const { create, globals } = await import("webgpu");
    Object.assign(globalThis, globals);
    const gpu = create(["backend=null", "enable-dawn-features=allow_unsafe_apis"]);
    kept.push(gpu);
    const adapter = await gpu.requestAdapter();
    return await adapter?.requestDevice({ requiredFeatures: features });
  } catch (e) {
    console.log(`no null backend: ${(e as Error).message.split("\n")[0]}`);
    return undefined;
  }
}
/** Instances must outlive their devices. */
const kept: unknown[] = [];
const device = await nullDevice();
if (device) device.onuncapturederror = () => {};
after(() => device?.destroy());

async function requireValid(code: string, what: string): Promise<void> {
  const module = device!.createShaderModule({ code });
  const { messages } = await module.getCompilationInfo();
  const errors = messages.filter((m) => m.type === "error").map((m) => `${m.lineNum}: ${m.message}`);
  assert.deepEqual(errors, [], `${what}\n${code}`);
}

const options: ProductOptions = { sharedBytes: 49152, tiles: "large", precision: "f16", packed: false };
const none = { of: [], a: [], b: [] };

test("products on tensor cores are valid WGSL in every form", { skip: !device }, async () => {
  for (const [transposeA, transposeB] of [
    [false, false],
    [false, true],
    [true, false],
  ] as const) {
    for (const plus of ["nothing", "result", "residual"] as const) {
      for (const packed of [false, true]) {
        for (const [M, N, K] of [
          [256, 256, 512],
          [192, 576, 576],
        ] as const) {
          const shape: ProductShape = {
            M,
            N,
            K,
            batch: none,
            transposeA,
            transposeB,
            scale: 1,
            splits: 1,
            plus,
          };
          const { code } = product(shape, { ...options, packed }, true);
          assert.match(code, /subgroupMatrixMultiplyAccumulate/);
          await requireValid(code, JSON.stringify({ ...shape, packed }));
        }
      }
    }
  }
});

test("every kernel of the operations is valid WGSL with the tiles of a large GPU", {
  skip: !device,
}, async () => {
  const seen = new Set<string>();
  for (const c of table) {
    const wrt = c.gradients.map((i) => c.arguments[i]!.tensor);
    const gradients =
      wrt.length === 0 ? [] : differentiate([{ of: c.result, cotangent: weights(c.result) }], wrt);
    const outputs = Object.fromEntries([c.result, ...gradients].map((t, i) => [`y${i}`, t]));
    const inputs = c.arguments.map((a) => a.tensor);
    for (const step of plan(inputs, outputs, { ...options, bindings: 8 }).steps) {
      assert.ok(step.bindings.length <= 8, `${c.file}: ${step.bindings.length} buffers`);
      if (seen.has(step.code)) continue;
      seen.add(step.code);
      await requireValid(step.code, `${c.file}, ${c.label}, ${step.label}`);
    }
  }
  assert.ok(seen.size > 100, `${seen.size} kernels`);
});

test("a sum over K is split by the weights' shape alone where rows are few, and by the shape of a gradient", () => {
  const few = (M: number): number =>
    splitsOf(
      { M, N: 576, K: 576, batch: none, transposeA: false, transposeB: true, scale: 1, plus: "nothing" },
      { tiles: "large", precision: "f32", fewRows: true },
    );
  assert.equal(few(16), few(128));
  assert.ok(few(16) > 1);
  const gradient = (K: number, precision: "f32" | "f16"): number =>
    splitsOf(
      { M: 512, N: 512, K, batch: none, transposeA: true, transposeB: false, scale: 1, plus: "result" },
      { tiles: "large", precision },
    );
  assert.equal(gradient(6144, "f32"), 16);
  assert.equal(gradient(6144, "f16"), 16);
  for (const precision of ["f32", "f16"] as const) assert.equal(gradient(256, precision), 1);
});

test("a tile for tensor cores divides what it may not write beyond, and is small where the product is", () => {
  const of = (M: number, N: number, K: number, padded: boolean) =>
    coreTile(
      { M, N, K, batch: none, transposeA: false, transposeB: true, scale: 1, plus: "nothing", splits: 1 },
      padded,
    );
  const sides = (tile: ReturnType<typeof of>) => tile && [tile.BM, tile.BN];
  assert.deepEqual(sides(of(6144, 3072, 576, true)), [192, 192]);
  assert.deepEqual(sides(of(64, 576, 576, true)), [64, 64]);
  assert.equal(of(100, 576, 576, false), undefined); // 100 rows are no whole tile, and there is no room
  assert.equal(of(6144, 100, 576, true), undefined);
  for (const M of [64, 100, 960, 1000, 6144]) {
    for (const N of [64, 576, 1536, 49152]) {
      const tile = of(M, N, 576, true)!;
      assert.equal(N % tile.BN, 0);
      assert.ok(M % tile.BM === 0 || rowPadding % tile.BM === 0);
    }
  }
});
