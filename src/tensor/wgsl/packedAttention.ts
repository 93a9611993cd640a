/** Attention within packed rows, tile by tile: the scores live in registers and are stored nowhere. */
import { type Attending, gridOf, group, type Kernel, lowest, main } from "./kernels.ts";
import type { AttentionPart } from "./lowering.ts";

/** Queries, or keys, of a workgroup: one for each thread. */
const threads = 64;
/** Numbers of one tensor that a workgroup holds in its own memory. Two tensors are held: 8 KiB, of at least 16 KiB. */
const heldNumbers = 1024;

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** What the kernels of one shape are made of. A row of d numbers is d / 4 vectors of four. */
function pieces({ H, G, T, d, scale }: Attending) {
  const n = d / 4;
  const rows = Math.max(1, Math.floor(heldNumbers / d));
  const each = (statement: (i: number) => string): string => range(n).map(statement).join(" ");
  const dot = (a: (i: number) => string, b: (i: number) => string): string =>
    range(n)
      .map((i) => `dot(${a(i)}, ${b(i)})`)
      .join(" + ");
  return {
    n,
    rows,
    each,
    dot,
    /** A row in registers, read from a tensor. */
    own: (name: string, from: string, at: string, by = ""): string =>
      each((i) => `let ${name}${i} = ${from}[${at} + ${i}u]${by};`),
    zeros: (name: string): string => each((i) => `var ${name}${i} = vec4<f32>();`),
    put: (name: string, by: string): string => each((i) => `out[at + ${i}u] = ${name}${i} * ${by};`),
    /** Copies rows from `first` on into the workgroup's memory. @param base the index of the tensor's row 0. */
    hold: (into: string, from: string, base: string): string =>
      `for (var c = li; c < ${rows * n}u; c += ${threads}u) {
  if (first + c / ${n}u < ${T}u) { ${into}[c] = ${from}[(${base} + first) * ${n}u + c]; }
}`,
    held: (...names: readonly string[]): string =>
      names.map((name) => `var<workgroup> ${name}: array<vec4<f32>, ${rows * n}>;`).join("\n"),
    scale: `f32(${scale})`,
    perKey: `${H / G}u`,
  };
}

const declared = (types: Readonly<Record<string, string>>): string =>
  Object.entries(types)
    .map(([name, type], i) => {
      const access = name === "out" ? "read_write" : "read";
      return `@group(0) @binding(${i}) var<storage, ${access}> ${name}: array<${type}>;`;
    })
    .join("\n");

const vector = "vec4<f32>";
const forward = { q: vector, k: vector, end: "i32" };
const weighed = { ...forward, g: vector, norm: "f32" };
/** The inputs of each part in their order, and the result. An input that a kernel does not read cannot be bound. */
const bindings: Readonly<Record<AttentionPart, Readonly<Record<string, string>>>> = {
  read: { ...forward, v: vector, out: vector },
  norm: { ...forward, out: "f32" },
  dq: { ...weighed, v: vector, taken: "f32", out: vector },
  dk: { ...weighed, v: vector, taken: "f32", out: vector },
  dv: { ...weighed, out: vector },
};

/** A thread for each query, which goes through the keys that it sees. */
function byQuery(part: "read" | "norm" | "dq", shape: Attending): Kernel {
  const { B, H, G, T } = shape;
  const { n, rows, each, dot, own, zeros, put, hold, held, scale, perKey } = pieces(shape);
  const tiles = Math.ceil(T / threads);
  const key = (i: number): string => `keys[j * ${n}u + ${i}u]`;
  const value = (i: number): string => `values[j * ${n}u + ${i}u]`;
  const start = {
    read: `var top = ${lowest}; var total = 0.0; ${zeros("y")}`,
    norm: `var top = ${lowest}; var total = 0.0;`,
    dq: `${own("g", "g", "at")} let whole = norm[row]; let less = taken[row]; ${zeros("y")}`,
  }[part];
  const online = (more: string): string =>
    `if (score > top) { let f = exp(top - score); total *= f; ${more} top = score; } let p = exp(score - top); total += p;`;
  const visit = {
    read: `${online(each((i) => `y${i} *= f;`))} ${each((i) => `y${i} += p * ${value(i)};`)}`,
    norm: online(""),
    dq: `let ds = exp(score - whole) * (${dot((i) => `g${i}`, value)} - less); ${each((i) => `y${i} += ds * ${key(i)};`)}`,
  }[part];
  const end = {
    read: put("y", "(1.0 / total)"),
    norm: "out[row] = top + log(total);",
    dq: put("y", scale),
  }[part];
  return {
    code: `${declared(bindings[part])}
${part === "norm" ? held("keys") : held("keys", "values")}
var<workgroup> ends: array<i32, ${rows}>;
${main(
  threads,
  `let tile = ${group}; if (tile >= ${B * H * tiles}u) { return; }
let head = tile / ${tiles}u;
let group = head / ${H}u * ${G}u + head % ${H}u / ${perKey};
let start = tile % ${tiles}u * ${threads}u;
let t = start + li;
let row = head * ${T}u + min(t, ${T - 1}u);
let at = row * ${n}u;
${own("q", "q", "at", ` * ${scale}`)}
${start}
for (var first = 0u; first < min(start + ${threads}u, ${T}u); first += ${rows}u) {
  workgroupBarrier();
  ${hold("keys", "k", `group * ${T}u`)}
  ${part === "norm" ? "" : hold("values", "v", `group * ${T}u`)}
  for (var j = li; j < ${rows}u; j += ${threads}u) {
    if (first + j < ${T}u) { ends[j] = end[head / ${H}u * ${T}u + first + j]; }
  }
  workgroupBarrier();
  for (var j = 0u; j < ${rows}u; j++) {
    if (first + j > t || t >= ${T}u || ends[j] < i32(t)) { continue; }
    let score = ${dot((i) => `q${i}`, key)};
    ${visit}
  }
}
if (t < ${T}u) { ${end} }`,
)}`,
    groups: gridOf(B * H * tiles),
  };
}

/** A thread for each key, which goes through the queries of all its heads that see it. */
function byKey(part: "dk" | "dv", shape: Attending): Kernel {
  const { B, H, G, T } = shape;
  const { n, rows, each, dot, own, zeros, put, hold, held, scale, perKey } = pieces(shape);
  const tiles = Math.ceil(T / threads);
  const query = (i: number): string => `queries[j * ${n}u + ${i}u]`;
  const cotangent = (i: number): string => `cotangents[j * ${n}u + ${i}u]`;
  const visit = {
    dk: `let ds = p * (${dot((i) => `v${i}`, cotangent)} - taken[row]); ${each((i) => `y${i} += ds * ${query(i)};`)}`,
    dv: each((i) => `y${i} += p * ${cotangent(i)};`),
  }[part];
  return {
    code: `${declared(bindings[part])}
${held("queries", "cotangents")}
${main(
  threads,
  `let tile = ${group}; if (tile >= ${B * G * tiles}u) { return; }
let group = tile / ${tiles}u;
let start = tile % ${tiles}u * ${threads}u;
let s = min(start + li, ${T - 1}u);
let at = (group * ${T}u + s) * ${n}u;
let last = end[group / ${G}u * ${T}u + s];
${own("k", "k", "at", ` * ${scale}`)}
${part === "dk" ? own("v", "v", "at") : ""}
${zeros("y")}
for (var head = group / ${G}u * ${H}u + group % ${G}u * ${perKey}; head < group / ${G}u * ${H}u + (group % ${G}u + 1u) * ${perKey}; head++) {
  for (var first = start / ${rows}u * ${rows}u; first < ${T}u; first += ${rows}u) {
    workgroupBarrier();
    ${hold("queries", "q", `head * ${T}u`)}
    ${hold("cotangents", "g", `head * ${T}u`)}
    workgroupBarrier();
    for (var j = 0u; j < ${rows}u; j++) {
      let t = first + j;
      if (t < s || t >= ${T}u || last < i32(t)) { continue; }
      let row = head * ${T}u + t;
      let p = exp(${dot((i) => `k${i}`, query)} - norm[row]);
      ${visit}
    }
  }
}
if (start + li < ${T}u) { ${put("y", part === "dk" ? scale : "1.0")} }`,
)}`,
    groups: gridOf(B * G * tiles),
  };
}

/** The kernel of one part. Its inputs are bound as the operation has them. */
export const packedAttentionKernel = (part: AttentionPart, shape: Attending): Kernel =>
  part === "dk" || part === "dv" ? byKey(part, shape) : byQuery(part, shape);
