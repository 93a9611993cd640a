import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import { initialNetwork, scoreInputs } from "../../../helper/rewardNetwork.ts";
import { contrast } from "./contrast.ts";
import { sharpness } from "./sharpness.ts";

const near = (got: number, want: number, within = 1e-9): void =>
  assert.ok(Math.abs(got - want) < within, `${got}, not ${want}`);

test("contrast by hand: views of two pairs at right angles", () => {
  const h = [Float64Array.of(2, 0), Float64Array.of(0, 1)];
  // cosines 1 and 0: −ln(e^2 / (e^2 + 1)) at T = ½
  near(contrast(h, h, 0.5).loss, Math.log1p(Math.exp(-2)));
  const swapped = contrast(h, [h[1]!, h[0]!], 0.5).loss;
  near(swapped, Math.log1p(Math.exp(2)));
});

test("contrast: gradients are those of finite differences; a view of length 0 has none", () => {
  const random = randomStream(3);
  const views = () =>
    Array.from({ length: 4 }, () => Float64Array.from({ length: 3 }, () => random.normal()));
  const [first, second] = [views(), views()];
  const { byFirst, bySecond } = contrast(first, second, 0.3);
  for (const [own, slopes, at] of [
    [first, byFirst, (changed: Float64Array[]) => contrast(changed, second, 0.3).loss],
    [second, bySecond, (changed: Float64Array[]) => contrast(first, changed, 0.3).loss],
  ] as const)
    own.forEach((view, i) => {
      for (let h = 0; h < view.length; h++) {
        const moved = (by: number): number => at(own.with(i, view.with(h, view[h]! + by)));
        near(slopes[i]![h]!, (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-7);
      }
    });
  const none = contrast([new Float64Array(3), ...first], [second[0]!, ...second], 0.3);
  assert.deepEqual([...none.byFirst[0]!], [0, 0, 0]);
  assert.ok(Number.isFinite(none.loss));
});

test("sharpness by hand, with its gradient", () => {
  const sizes = { inputs: 3, units: 2 };
  const theta = initialNetwork(sizes, randomStream(5));
  const reward = (inputs: readonly number[]): number => scoreInputs(theta, sizes, inputs).reward;
  const pairs = [
    [[0], [1, 2]],
    [[2], [0, 1]],
  ] as const;
  const by = pairs.map(([a, b]) => Math.abs(reward(a) - reward(b)));
  const gradient = new Float64Array(theta.length);
  const j = sharpness(theta, sizes, pairs, gradient);
  near(j, (1 / (1 + Math.exp(-by[0]!)) + 1 / (1 + Math.exp(-by[1]!))) / 2);
  for (let i = 0; i < theta.length; i++) {
    const at = (d: number): number =>
      sharpness(theta.with(i, theta[i]! + d), sizes, pairs, new Float64Array(theta.length));
    near(gradient[i]!, (at(1e-5) - at(-1e-5)) / 2e-5, 1e-8);
  }
  const flat = new Float64Array(theta.length);
  assert.equal(sharpness(theta, sizes, [[[1], [1]]], flat), 0.5);
  assert.ok(flat.every((g) => g === 0));
});
