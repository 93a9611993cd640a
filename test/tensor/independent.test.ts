// The float64 references against loops written from the formulas alone, without shapes, strides or helpers.
import { test } from "node:test";
import { constant, input } from "../../src/tensor/graph.ts";
import { gatherRows } from "../../src/tensor/ops/gatherRows.ts";
import { logSoftmax } from "../../src/tensor/ops/logSoftmax.ts";
import { matmul } from "../../src/tensor/ops/matmul.ts";
import { pick } from "../../src/tensor/ops/pick.ts";
import { rmsNorm } from "../../src/tensor/ops/rmsNorm.ts";
import { rotary } from "../../src/tensor/ops/rotary.ts";
import { softmax } from "../../src/tensor/ops/softmax.ts";
import { evaluate } from "../../src/tensor/reference.ts";
import { near, uniform } from "./support.ts";

const numbers = (n: number, seed: number): number[] => Array.from(uniform(seed, n));

test("matmul of a[2,1,3,4] and b[5,4,2] is a sum over the inner axis for every pair of batches", () => {
  const [a, b] = [input("a", [2, 1, 3, 4]), input("b", [5, 4, 2])];
  const [x, y] = [numbers(24, 1), numbers(40, 2)];
  const want: number[] = [];
  for (let s = 0; s < 2; s++)
    for (let t = 0; t < 5; t++)
      for (let i = 0; i < 3; i++)
        for (let j = 0; j < 2; j++)
          want.push([0, 1, 2, 3].reduce((sum, k) => sum + x[s * 12 + i * 4 + k]! * y[t * 8 + k * 2 + j]!, 0));
  const feeds = new Map([
    [a, x],
    [b, y],
  ]);
  near(evaluate([matmul(a, b)], feeds)[0]!, want, 1e-12);
});

test("matmul with both transposed is (b a)ᵀ", () => {
  // a = [[1, 2], [3, 4], [5, 6]] (k = 3, m = 2), b = [[1, 0, 2]] (n = 1, k = 3): aᵀ bᵀ = [1 + 10, 2 + 12]
  const a = constant([1, 2, 3, 4, 5, 6], [3, 2]);
  const b = constant([1, 0, 2], [1, 3]);
  near(evaluate([matmul(a, b, { transposeA: true, transposeB: true })], new Map())[0]!, [11, 14], 0);
});

test("rmsNorm divides each row by its root mean square", () => {
  // row [3, 4]: mean square 12.5, with epsilon 0.5: √13; row [0, 0] stays 0
  const x = constant([3, 4, 0, 0], [2, 2]);
  const w = constant([1, 10]);
  const want = [3 / Math.sqrt(13), 40 / Math.sqrt(13), 0, 0];
  near(evaluate([rmsNorm(x, w, 0.5)], new Map())[0]!, want, 1e-12);
});

test("rotary turns each pair (x[j], x[j + n]) as a complex number", () => {
  const [T, n] = [3, 2];
  const x = input("x", [2, T, 2 * n]);
  const data = numbers(2 * T * 2 * n, 3);
  const angle = (t: number, j: number): number => t * 10 ** -j;
  const list = (f: (a: number) => number): number[] =>
    Array.from({ length: T * n }, (_, i) => f(angle(Math.floor(i / n), i % n)));
  const want = data.slice();
  for (let b = 0; b < 2; b++)
    for (let t = 0; t < T; t++)
      for (let j = 0; j < n; j++) {
        const at = (b * T + t) * 2 * n + j;
        const [re, im] = [data[at]!, data[at + n]!];
        const size = Math.hypot(re, im);
        const turned = Math.atan2(im, re) + angle(t, j);
        want[at] = size * Math.cos(turned);
        want[at + n] = size * Math.sin(turned);
      }
  const y = rotary(x, constant(list(Math.cos), [T, n]), constant(list(Math.sin), [T, n]));
  near(evaluate([y], new Map([[x, data]]))[0]!, want, 1e-12);
});

test("softmax and logSoftmax of [0, ln 2, ln 5] are the shares 1 : 2 : 5, at any offset", () => {
  const x = constant([0, Math.log(2), Math.log(5), 1000, 1000 + Math.log(2), 1000 + Math.log(5)], [2, 3]);
  const shares = [1 / 8, 2 / 8, 5 / 8, 1 / 8, 2 / 8, 5 / 8];
  near(evaluate([softmax(x)], new Map())[0]!, shares, 1e-12);
  near(evaluate([logSoftmax(x)], new Map())[0]!, shares.map(Math.log), 1e-12);
});

test("pick takes one element of each row, gatherRows whole rows", () => {
  const x = constant([10, 11, 12, 20, 21, 22], [2, 3]);
  const ids = constant([2, 0], [2], "int32");
  near(evaluate([pick(x, ids)], new Map())[0]!, [12, 20], 0);
  const rows = constant([1, 1, 0], [3], "int32");
  near(evaluate([gatherRows(x, rows)], new Map())[0]!, [20, 21, 22, 20, 21, 22, 10, 11, 12], 0);
});
