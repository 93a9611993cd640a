/** Kernels that go through rows in a way of their own. */
import type { Shape } from "../shape.ts";
import { stridesOf } from "./code.ts";
import {
  type Attending,
  type Bound,
  gridOf,
  group,
  type Kernel,
  larger,
  lowest,
  main,
  mostGroups,
  plus,
  threadsFor,
  tree,
} from "./kernels.ts";

/**
 * Adds rows at ids into a table, equal ids in their order. A workgroup for each id; the first of several equal ones adds for
 * all, so that nothing is written twice at once.
 */
export function addRowsKernel(
  count: number,
  width: number,
  bound: Bound,
  ids: string,
  body: { readonly text: string; readonly value: string },
): Kernel {
  const threads = 64;
  return {
    code: `${bound.declarations}
var<workgroup> earlier: u32;
var<workgroup> same: array<u32, ${threads}>;
${main(
  threads,
  `let own = wg.y * ${mostGroups}u + wg.x;
if (own >= ${count}u) { return; }
let id = ${ids}[own];
if (li == 0u) { earlier = 0u; }
workgroupBarrier();
for (var s = li; s < own; s += ${threads}u) { if (${ids}[s] == id) { earlier = 1u; } }
workgroupBarrier();
if (workgroupUniformLoad(&earlier) == 1u) { return; }
for (var base = own; base < ${count}u; base += ${threads}u) {
  let s = base + li;
  var hit = 0u;
  if (s < ${count}u) { if (${ids}[s] == id) { hit = 1u; } }
  same[li] = hit;
  workgroupBarrier();
  for (var j = 0u; j < ${threads}u; j++) {
    if (same[j] == 0u) { continue; }
    for (var column = li; column < ${width}u; column += ${threads}u) {
      let i = (base + j) * ${width}u + column;
      ${body.text}
      ${bound.write(`u32(id) * ${width}u + column`, body.value)}
    }
  }
  workgroupBarrier();
}`,
)}`,
    groups: gridOf(count),
  };
}

/** Writes `count` rows of `width` into a tensor at positions on its leading axes. */
export function scatterKernel(
  { count, width, lead }: { readonly count: number; readonly width: number; readonly lead: Shape },
  bound: Bound,
  index: string,
  body: { readonly text: string; readonly value: string },
): Kernel {
  const strides = stridesOf(lead);
  const place = strides
    .map((stride, a) => `u32(${index}[row * ${lead.length}u + ${a}u]) * ${stride}u`)
    .join(" + ");
  const total = count * width;
  return {
    code: `${bound.declarations}${main(
      256,
      `let i = ${group} * 256u + li; if (i >= ${total}u) { return; }
let row = i / ${width}u;
${body.text}
${bound.write(`(${place}) * ${width}u + i % ${width}u`, body.value)}`,
    )}`,
    groups: gridOf(Math.ceil(total / 256)),
  };
}

/** Indices of the k largest of each row, largest first; ties go to the lower index. */
export function topIdsKernel(rows: number, width: number, k: number, bound: Bound, x: string): Kernel {
  const threads = 256;
  return {
    code: `${bound.declarations}
var<workgroup> value: array<f32, ${threads}>;
var<workgroup> place: array<u32, ${threads}>;
${main(
  threads,
  `let row = ${group}; if (row >= ${rows}u) { return; }
var lastValue = 3.4e38; var lastPlace = 0u;
for (var n = 0u; n < ${k}u; n++) {
  var best = ${lowest}; var at = ${width}u;
  for (var c = li; c < ${width}u; c += ${threads}u) {
    let v = ${x}[row * ${width}u + c];
    let below = n == 0u || v < lastValue || (v == lastValue && c > lastPlace);
    if (below && (at == ${width}u || v > best)) { best = v; at = c; }
  }
  value[li] = best; place[li] = at;
  workgroupBarrier();
  for (var s = ${threads / 2}u; s > 0u; s >>= 1u) {
    if (li < s) {
      let better = place[li + s] < ${width}u && (place[li] == ${width}u || value[li + s] > value[li] || (value[li + s] == value[li] && place[li + s] < place[li]));
      if (better) { value[li] = value[li + s]; place[li] = place[li + s]; }
    }
    workgroupBarrier();
  }
  lastValue = workgroupUniformLoad(&value[0]);
  lastPlace = workgroupUniformLoad(&place[0]);
  if (li == 0u) { ${bound.write(`row * ${k}u + n`, "i32(lastPlace)")} }
  workgroupBarrier();
}`,
)}`,
    groups: gridOf(rows),
  };
}

/**
 * Inverts the running sum of each row of weights. Each thread adds up a run of neighbours; then one thread finds the run, and the
 * index in it.
 */
export function drawIdsKernel(
  rows: number,
  width: number,
  bound: Bound,
  u: string,
  weight: { readonly text: string; readonly value: string },
): Kernel {
  const threads = 256;
  const run = Math.ceil(width / threads);
  return {
    code: `${bound.declarations}
var<workgroup> sums: array<f32, ${threads}>;
${main(
  threads,
  `let row = ${group}; if (row >= ${rows}u) { return; }
var sum = 0.0;
for (var c = li * ${run}u; c < min((li + 1u) * ${run}u, ${width}u); c++) {
  let i = row * ${width}u + c;
  ${weight.text}
  sum += ${weight.value};
}
sums[li] = sum;
workgroupBarrier();
if (li != 0u) { return; }
var total = 0.0;
for (var t = 0u; t < ${threads}u; t++) { total += sums[t]; }
let wanted = ${u}[row] * total;
var passed = 0.0; var t = 0u;
loop {
  if (t >= ${threads - 1}u || passed + sums[t] > wanted) { break; }
  passed += sums[t]; t++;
}
var found = min((t + 1u) * ${run}u, ${width}u) - 1u;
for (var c = t * ${run}u; c < min((t + 1u) * ${run}u, ${width}u); c++) {
  let i = row * ${width}u + c;
  ${weight.text}
  passed += ${weight.value};
  if (passed > wanted) { found = c; break; }
}
${bound.write("row", "i32(found)")}`,
)}`,
    groups: gridOf(rows),
  };
}

/** Adds partial results, [parts, count], to what the result holds, or to zero. */
export function joinParts(parts: number, count: number, plus: "nothing" | "result"): Kernel {
  return {
    code: `@group(0) @binding(0) var<storage, read> part: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
${main(
  256,
  `let i = ${group} * 256u + li; if (i >= ${count}u) { return; }
var sum = ${plus === "result" ? "out[i]" : "0.0"};
for (var k = 0u; k < ${parts}u; k++) { sum += part[k * ${count}u + i]; }
out[i] = sum;`,
)}`,
    groups: gridOf(Math.ceil(count / 256)),
  };
}

/** x / √(mean(x²) + ε) · weight of each row: a workgroup for each. */
export function rmsNormKernel(
  { rows, width, epsilon }: { readonly rows: number; readonly width: number; readonly epsilon: number },
  bound: Bound,
  weight: string,
  x: (at: string) => { readonly text: string; readonly value: string },
): Kernel {
  const threads = threadsFor(width);
  const at = `(row * ${width}u + c)`;
  const [first, second] = [x(at), x(at)];
  return {
    code: `${bound.declarations}${tree(threads, "joinsum", plus)}
${main(
  threads,
  `let row = ${group}; if (row >= ${rows}u) { return; }
var sum = 0.0;
for (var c = li; c < ${width}u; c += ${threads}u) { ${first.text} let v = ${first.value}; sum += v * v; }
let scale = inverseSqrt(joinsum(li, sum) / ${width}.0 + f32(${epsilon}));
for (var c = li; c < ${width}u; c += ${threads}u) {
  ${second.text}
  ${bound.write(at, `${second.value} * scale * ${weight}[c]`)}
}`,
)}`,
    groups: gridOf(rows),
  };
}

/** The softmax of each row: a workgroup for each, whose memory holds the row. */
export function softmaxKernel(
  rows: number,
  width: number,
  bound: Bound,
  x: (at: string) => { readonly text: string; readonly value: string },
): Kernel {
  const threads = width <= 128 ? 32 : threadsFor(width);
  const { text, value } = x(`(row * ${width}u + c)`);
  return {
    code: `${bound.declarations}
var<workgroup> scores: array<f32, ${width}>;
${tree(threads, "joinsum", plus)}${tree(threads, "joinmax", larger)}
${main(
  threads,
  `let row = ${group}; if (row >= ${rows}u) { return; }
var top = ${lowest};
for (var c = li; c < ${width}u; c += ${threads}u) { ${text} let v = ${value}; scores[c] = v; top = max(top, v); }
top = joinmax(li, top);
var sum = 0.0;
for (var c = li; c < ${width}u; c += ${threads}u) { let e = exp(scores[c] - top); scores[c] = e; sum += e; }
let whole = joinsum(li, sum);
for (var c = li; c < ${width}u; c += ${threads}u) { ${bound.write(`row * ${width}u + c`, "scores[c] / whole")} }`,
)}`,
    groups: gridOf(rows),
  };
}

/**
 * Attention of one query per head over T keys: a workgroup for each head of each row. A key that the mask takes out is not
 * read, and adds an exact zero, so that the length of the cache does not change a bit.
 * @param mask adds statements, and gives the mask at the index `m` of [B, H, 1, T].
 */
export function attendOnceKernel(
  { B, H, G, T, d, scale }: Attending,
  bound: Bound,
  [q, k, v]: readonly string[],
  mask: { readonly text: string; readonly value: string },
): Kernel {
  const threads = 128;
  const parts = Math.max(1, Math.floor(threads / d));
  return {
    code: `${bound.declarations}
var<workgroup> weights: array<f32, ${T}>;
var<workgroup> query: array<f32, ${d}>;
var<workgroup> partial: array<f32, ${parts * d}>;
${tree(threads, "joinsum", plus)}${tree(threads, "joinmax", larger)}
${main(
  threads,
  `let head = ${group}; if (head >= ${B * H}u) { return; }
let keys = ((head / ${H}u) * ${G}u + (head % ${H}u) / ${H / G}u) * ${T * d}u;
for (var j = li; j < ${d}u; j += ${threads}u) { query[j] = ${q}[head * ${d}u + j]; }
workgroupBarrier();
var top = ${lowest};
for (var t = li; t < ${T}u; t += ${threads}u) {
  let m = head * ${T}u + t;
  ${mask.text}
  let added = ${mask.value};
  var score = added;
  if (added > -1e8) {
    var dot = 0.0;
    for (var j = 0u; j < ${d}u; j++) { dot = fma(query[j], ${k}[keys + t * ${d}u + j], dot); }
    score = dot * f32(${scale}) + added;
  }
  weights[t] = score;
  top = max(top, score);
}
top = joinmax(li, top);
var total = 0.0;
for (var t = li; t < ${T}u; t += ${threads}u) { let e = exp(weights[t] - top); weights[t] = e; total += e; }
total = joinsum(li, total);
for (var c = li; c < ${parts * d}u; c += ${threads}u) {
  var sum = 0.0;
  for (var t = c / ${d}u; t < ${T}u; t += ${parts}u) {
    let w = weights[t];
    if (w > 0.0) { sum = fma(w, ${v}[keys + t * ${d}u + c % ${d}u], sum); }
  }
  partial[c] = sum;
}
workgroupBarrier();
for (var j = li; j < ${d}u; j += ${threads}u) {
  var sum = 0.0;
  for (var p = 0u; p < ${parts}u; p++) { sum += partial[p * ${d}u + j]; }
  ${bound.write(`head * ${d}u + j`, "sum / total")}
}`,
)}`,
    groups: gridOf(B * H),
  };
}
