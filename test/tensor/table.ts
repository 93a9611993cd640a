// One row for each file in src/tensor/ops: how to call the operation, and a call that must fail.
import { constant, input, type Tensor } from "../../src/tensor/graph.ts";
import * as t from "../../src/tensor/operations.ts";
import { sizeOf } from "../../src/tensor/shape.ts";
import { uniform } from "./support.ts";

export interface Argument {
  readonly tensor: Tensor;
  readonly data: Float64Array;
}

export interface Case {
  /** File name in src/tensor/ops without extension. */
  readonly file: string;
  readonly label: string;
  readonly arguments: readonly Argument[];
  readonly result: Tensor;
  /** Positions of the arguments whose gradient is checked. */
  readonly gradients: readonly number[];
}

let seed = 1;
/** A float argument. Random values rarely hit ties and kinks. */
const real = (shape: readonly number[], low = -2, high = 2): Argument => ({
  tensor: input(`x${seed}`, shape),
  data: uniform(seed++, sizeOf(shape), low, high),
});
const ints = (shape: readonly number[], below: number): Argument => ({
  tensor: input(`i${seed}`, shape, "int32"),
  data: uniform(seed++, sizeOf(shape), 0, below).map(Math.floor),
});
const given = (
  name: string,
  shape: readonly number[],
  data: number[],
  dtype: "int32" | "bool",
): Argument => ({
  tensor: input(`${name}${seed++}`, shape, dtype),
  data: Float64Array.from(data),
});

function row(
  file: string,
  label: string,
  args: readonly Argument[],
  build: (...x: Tensor[]) => Tensor,
  gradients: readonly number[] = args.flatMap((a, i) => (a.tensor.dtype === "float32" ? [i] : [])),
): Case {
  return { file, label, arguments: args, result: build(...args.map((a) => a.tensor)), gradients };
}

const binaries = { add: t.add, sub: t.sub, mul: t.mul, maximum: t.maximum, minimum: t.minimum };
const unaries = {
  abs: t.abs,
  exp: t.exp,
  neg: t.neg,
  sigmoid: t.sigmoid,
  sign: t.sign,
  silu: t.silu,
  square: t.square,
  tanh: t.tanh,
};
const positives = { log: t.log, sqrt: t.sqrt, rsqrt: t.rsqrt, reciprocal: t.reciprocal };
const comparisons = { less: t.less, lessEqual: t.lessEqual, greaterEqual: t.greaterEqual };

export const table: readonly Case[] = [
  ...Object.entries(binaries).flatMap(([file, op]) => [
    row(file, "equal shapes", [real([2, 3]), real([2, 3])], op),
    row(file, "both broadcast", [real([2, 1, 3]), real([4, 1])], op),
    row(file, "a number", [real([3])], (x) => op(x, 0.7)),
  ]),
  row("div", "both broadcast", [real([2, 1, 3]), real([4, 1], 0.5, 2)], t.div),
  ...Object.entries(unaries).map(([file, op]) => row(file, "matrix", [real([3, 4])], op)),
  ...Object.entries(positives).map(([file, op]) => row(file, "matrix", [real([3, 4], 0.3, 3)], op)),
  row("clip", "both sides", [real([12])], (x) => t.clip(x, -1, 0.5)),
  ...Object.entries(comparisons).map(([file, op]) =>
    row(file, "rows with a column", [real([2, 3]), real([2, 1])], op, []),
  ),
  row("equal", "ids with a range", [ints([5, 1], 4)], (x) =>
    t.equal(x, constant([0, 1, 2, 3], [4], "int32")),
  ),
  row("lessEqual", "equal numbers", [ints([6], 3)], (x) => t.lessEqual(x, 1)),
  row("greaterEqual", "equal numbers", [ints([6], 3)], (x) => t.greaterEqual(x, 1)),
  row("where", "all broadcast", [given("c", [2, 1], [1, 0], "bool"), real([3]), real([2, 3])], t.where),
  row("where", "int32", [given("c", [3], [1, 0, 1], "bool"), ints([3], 9)], (c, x) =>
    t.where(c, x, constant(7, [], "int32")),
  ),
  row("cast", "bool to float32", [given("c", [4], [1, 0, 0, 1], "bool")], (c) => t.cast(c, "float32")),
  row("cast", "float32 to int32", [real([6])], (x) => t.cast(x, "int32"), []),
  row("cast", "int32 to float32", [ints([6], 9)], (x) => t.cast(x, "float32")),
  row("stopGradient", "beside a path", [real([4])], (x) => t.mul(t.stopGradient(t.exp(x)), 2), []),
  row("reshape", "split an axis", [real([6, 2])], (x) =>
    t.mul(t.reshape(x, [2, 3, 2]), constant([1, 2], [2])),
  ),
  row("transpose", "three axes", [real([2, 3, 4])], (x) => t.transpose(x, [2, 0, 1])),
  row("broadcastTo", "inner and leading", [real([3, 1])], (x) => t.broadcastTo(x, [2, 3, 4])),
  row("concat", "last axis", [real([2, 3]), real([2, 1]), real([2, 2])], (...x) => t.concat(x, -1)),
  row(
    "concat",
    "more parts than a kernel may read",
    Array.from({ length: 17 }, () => real([1, 2])),
    (...x) => t.concat(x, 0),
  ),
  row("concat", "first axis", [real([2, 3]), real([1, 3])], (...x) => t.concat(x, 0)),
  row("slice", "middle", [real([2, 5, 3])], (x) => t.slice(x, 1, 1, 4)),
  row("split", "three pieces", [real([2, 6])], (x) => {
    const [a, b, c] = t.split(x, [1, 2, 3], 1);
    return t.concat([t.mul(c!, 3), t.square(a!), b!], 1);
  }),
  row("split", "one piece unused", [real([2, 6])], (x) => {
    const [a, , c] = t.split(x, [1, 2, 3], 1);
    return t.concat([t.mul(c!, 3), t.square(a!)], 1);
  }),
  row("embed", "middle", [real([2, 2])], (x) => t.embed(x, 1, 1, 5)),
  row("sum", "all", [real([2, 3])], (x) => t.sum(x)),
  row("sum", "inner, kept", [real([2, 3, 4])], (x) => t.sum(x, [1], { keep: true })),
  row("sum", "last", [real([5, 4])], (x) => t.sum(x, [-1])),
  row("sum", "leading two", [real([2, 3, 4])], (x) => t.sum(x, [0, 1])),
  row("sum", "leading, kept", [real([6, 4])], (x) => t.sum(x, [0], { keep: true })),
  row("sum", "first and last", [real([2, 3, 4])], (x) => t.sum(x, [0, 2])),
  row("mean", "last", [real([2, 3])], (x) => t.mean(x, [1])),
  row("max", "last", [real([3, 4])], (x) => t.max(x, [-1])),
  row("max", "all, kept", [real([3, 4])], (x) => t.max(x, undefined, { keep: true })),
  row("sumTo", "leading and inner", [real([2, 3, 4])], (x) => t.sumTo(x, [3, 1])),
  row("matmul", "2-D", [real([3, 4]), real([4, 2])], (a, b) => t.matmul(a, b)),
  ...[
    [true, false],
    [false, true],
    [true, true],
  ].flatMap(([transposeA, transposeB]) => {
    const options = { transposeA: transposeA!, transposeB: transposeB! };
    const a = transposeA ? [4, 3] : [3, 4];
    const b = transposeB ? [2, 4] : [4, 2];
    const label = `${transposeA ? "aᵀ" : "a"} ${transposeB ? "bᵀ" : "b"}`;
    const op = (x: Tensor, y: Tensor) => t.matmul(x, y, options);
    return [
      row("matmul", `${label}, 2-D`, [real(a), real(b)], op),
      row("matmul", `${label}, batch`, [real([2, ...a]), real([2, ...b])], op),
      row("matmul", `${label}, both broadcast`, [real([2, 1, ...a]), real([3, ...b])], op),
      row("matmul", `${label}, weights`, [real([2, 2, ...a]), real(b)], op),
    ];
  }),
  row("matmul", "scaled", [real([2, 3, 4]), real([2, 5, 4])], (a, b) =>
    t.matmul(a, b, { transposeB: true, scale: 0.3 }),
  ),
  row("matmul", "scaled, both transposed", [real([4, 3]), real([5, 4])], (a, b) =>
    t.matmul(a, b, { transposeA: true, transposeB: true, scale: -2 }),
  ),
  row("addMatmul", "plain", [real([3, 2]), real([3, 4]), real([4, 2])], (s, a, b) => t.addMatmul(s, a, b)),
  row("addMatmul", "scaled and transposed", [real([3, 2]), real([4, 3]), real([2, 4])], (s, a, b) =>
    t.addMatmul(s, a, b, { transposeA: true, transposeB: true, scale: 0.5 }),
  ),
  row("matmul", "weights", [real([2, 3, 4]), real([4, 2])], (a, b) => t.matmul(a, b)),
  row("matmul", "both broadcast", [real([2, 1, 3, 4]), real([3, 4, 2])], (a, b) => t.matmul(a, b)),
  row("softmax", "rows", [real([3, 5])], t.softmax),
  row("logSoftmax", "rows", [real([3, 5])], t.logSoftmax),
  row("logSumExp", "rows", [real([3, 5])], t.logSumExp),
  row("logProbability", "rows", [real([2, 3, 5]), ints([2, 3], 5)], t.logProbability),
  row("pickMany", "repeated ids", [real([2, 3, 5]), ints([2, 3, 4], 5)], t.pickMany),
  row("addAt", "repeated ids", [real([3, 4]), ints([3, 6], 4), real([3, 6])], t.addAt),
  row("drawIds", "rows", [real([4, 300], 0, 1), real([4], 0, 1)], t.drawIds, []),
  row("topIds", "three of five", [real([4, 5])], (x) => t.topIds(x, 3), []),
  row(
    "selectRows",
    "some rows",
    [real([4, 3]), given("ids", [3], [2, 0, 3], "int32"), given("back", [4], [1, 3, 0, 2], "int32")],
    t.selectRows,
  ),
  row("swiglu", "matrix", [real([3, 4]), real([3, 4])], t.swiglu),
  row(
    "attention",
    "a key head for two heads, masks of each row",
    [real([2, 4, 3, 8]), real([2, 2, 5, 8]), real([2, 2, 5, 8]), real([2, 1, 3, 5])],
    (q, k, v, mask) => t.attention(q, k, v, mask, 0.3),
    [0, 1, 2],
  ),
  row(
    "attention",
    "one mask",
    [real([2, 2, 3, 8]), real([2, 2, 3, 8]), real([2, 2, 3, 8]), real([1, 1, 3, 3])],
    (q, k, v, mask) => t.attention(q, k, v, mask, 0.5),
    [0, 1, 2],
  ),
  row(
    "packedAttention",
    "a key head for two heads, rows that share a beginning",
    [
      real([2, 4, 6, 8]),
      real([2, 2, 6, 8]),
      real([2, 2, 6, 8]),
      given("end", [2, 1, 1, 6], [5, 5, 3, 3, 5, 5, 2, 2, 2, 5, 4, 5], "int32"),
    ],
    (q, k, v, end) => t.packedAttention(q, k, v, end, 0.3),
  ),
  row("gatherRows", "repeated ids", [real([4, 3]), ints([2, 5], 4)], t.gatherRows),
  row("addRows", "repeated ids", [ints([2, 5], 4), real([2, 5, 3])], (ids, x) => t.addRows(ids, x, 4)),
  row("pick", "matrix of rows", [real([2, 3, 5]), ints([2, 3], 5)], t.pick),
  row("place", "rows", [ints([2, 3], 5), real([2, 3])], (ids, x) => t.place(ids, x, 5)),
  row("rmsNorm", "3-D", [real([2, 3, 4]), real([4])], (x, w) => t.rmsNorm(x, w, 1e-5)),
  row("rmsNorm", "4-D", [real([2, 2, 3, 4]), real([4])], (x, w) => t.rmsNorm(x, w, 0.1)),
  row("rotary", "shared positions", [real([2, 2, 3, 4]), real([3, 2]), real([3, 2])], t.rotary, [0]),
  row(
    "rotary",
    "positions of each row",
    [real([2, 2, 3, 4]), real([2, 1, 3, 2]), real([2, 1, 3, 2])],
    t.rotary,
    [0],
  ),
  row("rotary", "every angle its own", [real([2, 3, 4]), real([2, 3, 2]), real([2, 3, 2])], t.rotary, [0]),
  row(
    "rotary",
    "angles shared along time",
    [real([2, 3, 4]), real([2, 1, 2]), real([2, 1, 2])],
    t.rotary,
    [0],
  ),
  row("rotary", "one step", [real([3, 2, 1, 4]), real([3, 1, 1, 2]), real([3, 1, 1, 2])], t.rotary, [0]),
  row(
    "scatterRows",
    "one axis",
    [real([4, 3]), given("i", [2, 1], [3, 1], "int32"), real([2, 3])],
    t.scatterRows,
    [],
  ),
  row(
    "scatterRows",
    "two axes",
    [real([2, 3, 2]), given("i", [2, 1, 2], [0, 2, 1, 1], "int32"), real([2, 1, 2])],
    t.scatterRows,
    [],
  ),
];
