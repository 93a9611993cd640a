import { strict as assert } from "node:assert";
import { compile } from "../../src/tensor/compile.ts";
import type { Session, TypedArray } from "../../src/tensor/execute.ts";
import { constant, type Tensor } from "../../src/tensor/graph.ts";
import { sizeOf } from "../../src/tensor/shape.ts";

/** Uniform numbers in [0, 1), the same for the same seed. */
export function stream(seed: number): () => number {
  let s = (seed ^ 0x5bd1e995) >>> 0 || 1;
  return () => {
    s = (s ^ (s << 13)) >>> 0;
    s = (s ^ (s >>> 17)) >>> 0;
    s = (s ^ (s << 5)) >>> 0;
    return s / 2 ** 32;
  };
}

export const uniform = (seed: number, size: number, low = -2, high = 2): Float64Array => {
  const next = stream(seed);
  return Float64Array.from({ length: size }, () => low + (high - low) * next());
};

/** Numbers as the typed array that a tensor is fed with. */
export const feedFor = (t: Tensor, data: ArrayLike<number>): TypedArray =>
  t.dtype === "float32"
    ? Float32Array.from(data)
    : t.dtype === "int32"
      ? Int32Array.from(data)
      : Uint8Array.from(data);

export const weights = (t: Tensor, seed = 99): Tensor =>
  constant(Array.from(uniform(seed, sizeOf(t.shape), -1, 1), Math.fround), t.shape);

export async function withSession<T>(
  inputs: readonly Tensor[],
  outputs: Record<string, Tensor>,
  use: (session: Session) => Promise<T>,
  threads = 2,
): Promise<T> {
  const { createSession } = await import("../../src/tensor/execute.ts");
  const session = await createSession(compile(inputs, outputs), { threads });
  try {
    return await use(session);
  } finally {
    await session.release();
  }
}

export const runOnce = (
  inputs: readonly Tensor[],
  outputs: Record<string, Tensor>,
  feeds: Record<string, TypedArray>,
): Promise<Record<string, TypedArray>> => withSession(inputs, outputs, (s) => s.run(feeds));

/** Close relative to the largest expected number, or to 1 if that is larger. */
export function near(
  got: ArrayLike<number>,
  want: ArrayLike<number>,
  tolerance: number,
  what = "value",
): void {
  assert.equal(got.length, want.length, `${what}: ${got.length} numbers, expected ${want.length}`);
  const scale = Array.from(want).reduce((m, x) => Math.max(m, Math.abs(x)), 1);
  for (let i = 0; i < want.length; i++) {
    assert.ok(
      Math.abs(got[i]! - want[i]!) <= tolerance * scale,
      `${what}[${i}]: got ${got[i]}, expected ${want[i]}`,
    );
  }
}
