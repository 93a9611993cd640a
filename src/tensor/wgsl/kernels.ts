/** Kernels of elements and reductions. */
import { type Shape, sizeOf } from "../shape.ts";
import { type Statements, strided, stridesOf } from "./code.ts";
import type { Reduction } from "./lowering.ts";

/** A kernel whose inputs are bound after one another, and its output last. */
export interface Kernel {
  readonly code: string;
  readonly groups: readonly [number, number, number];
}

/** Most workgroups along one axis of a dispatch. */
export const mostGroups = 65535;

export const gridOf = (groups: number): readonly [number, number, number] =>
  groups <= mostGroups ? [groups, 1, 1] : [mostGroups, Math.ceil(groups / mostGroups), 1];

/** The index of a workgroup in such a grid. */
export const group = `(wg.y * ${mostGroups}u + wg.x)`;

/** The shape of attention: B sequences, H heads of queries over G of keys, T positions, d numbers for each. */
export interface Attending {
  readonly B: number;
  readonly H: number;
  readonly G: number;
  readonly T: number;
  readonly d: number;
  readonly scale: number;
}

/** What a kernel's body reads and writes. */
export interface Bound {
  /** Declarations of the bindings. */
  readonly declarations: string;
  /** Statement that writes an element of the result. */
  readonly write: (at: string, value: string) => string;
}

export const main = (threads: number, body: string): string => `
@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) wg: vec3<u32>, @builtin(local_invocation_index) li: u32) {
${body}
}`;

/** The value of one element by statements. */
export type Element = (code: Statements, at: string) => string;

/** One thread per element. */
export function elements(count: number, code: Statements, bound: () => Bound, element: Element): Kernel {
  const value = element(code, "i");
  const { declarations, write } = bound();
  return {
    code: `${declarations}${main(
      256,
      `let i = ${group} * 256u + li; if (i >= ${count}u) { return; }\n${code.text()}\n${write("i", value)}`,
    )}`,
    groups: gridOf(Math.ceil(count / 256)),
  };
}

/** A tree over the threads of a workgroup, in an order that depends on their number alone. */
export const tree = (threads: number, name: string, join: (a: string, b: string) => string): string => `
var<workgroup> ${name}Shared: array<f32, ${threads}>;
fn ${name}(li: u32, v: f32) -> f32 {
  ${name}Shared[li] = v;
  workgroupBarrier();
  for (var s = ${threads / 2}u; s > 0u; s >>= 1u) {
    if (li < s) { ${name}Shared[li] = ${join(`${name}Shared[li]`, `${name}Shared[li + s]`)}; }
    workgroupBarrier();
  }
  let r = workgroupUniformLoad(&${name}Shared[0]);
  workgroupBarrier();
  return r;
}`;

export const plus = (a: string, b: string): string => `${a} + ${b}`;
export const larger = (a: string, b: string): string => `max(${a}, ${b})`;
/** Below every finite score. */
export const lowest = "-3.4e38";

interface Reducing {
  readonly by: Reduction;
  readonly shape: Shape;
  readonly axes: readonly number[];
}

/** How the elements of the input are numbered: by result, and within the sum of one result. */
function numbering({ shape, axes }: Reducing) {
  const strides = stridesOf(shape);
  const pick = (reduced: boolean) => {
    const taken = shape.map((_, a) => a).filter((a) => axes.includes(a) === reduced);
    return { shape: taken.map((a) => shape[a]!), strides: taken.map((a) => strides[a]!) };
  };
  const [kept, gone] = [pick(false), pick(true)];
  return {
    count: sizeOf(kept.shape),
    length: sizeOf(gone.shape),
    outer: (o: string): string => strided(o, kept.shape, kept.strides),
    inner: (r: string): string => strided(r, gone.shape, gone.strides),
  };
}

/** A loop that joins the values of one result; `logSumExp` needs a second one. */
function loops(
  by: Reduction,
  code: Statements,
  header: string,
  value: (code: Statements) => string,
  join: (part: "sum" | "max", name: string) => string,
): string {
  const [total, top] = [code.fresh(), code.fresh()];
  const body = (f: (v: string) => string): string => {
    const { result, lines } = code.inside(() => code.name("f32", value(code)));
    return `${header} { ${lines.join("\n")} ${f(result)} }`;
  };
  const largest = (): string =>
    `var ${top} = ${lowest}; ${body((v) => `${top} = max(${top}, ${v});`)} ${join("max", top)}`;
  if (by === "max") {
    code.add(largest());
    return top;
  }
  if (by === "sum") {
    code.add(`var ${total} = 0.0; ${body((v) => `${total} += ${v};`)} ${join("sum", total)}`);
    return total;
  }
  code.add(largest());
  code.add(`var ${total} = 0.0; ${body((v) => `${total} += exp(${v} - ${top});`)} ${join("sum", total)}`);
  return `(${top} + log(${total}))`;
}

/** Threads of a workgroup that goes through a row. */
export const threadsFor = (length: number): number => (length <= 256 ? 64 : length <= 1024 ? 128 : 256);

/** One kernel; or two, where the first writes this number of partial results and the second joins them. */
export type ReductionKernels =
  | { readonly stages: 1; readonly kernel: Kernel }
  | { readonly stages: 2; readonly first: Kernel; readonly second: Kernel; readonly partial: number };

/**
 * The kernels of a reduction. Sums over the innermost axes take a workgroup each; others a thread each, in two stages where
 * there are few of them.
 */
export function reduction(
  r: Reducing,
  code: Statements,
  bound: () => Bound,
  element: Element,
): ReductionKernels {
  const { count, length, outer, inner } = numbering(r);
  const trailing = r.axes.every((a, i) => a === r.shape.length - r.axes.length + i);
  if (trailing && length >= 32) {
    const threads = threadsFor(length);
    const base = code.name("u32", outer("o"));
    const value = loops(
      r.by,
      code,
      `for (var r = li; r < ${length}u; r += ${threads}u)`,
      (c) => element(c, c.name("u32", `(${base} + ${inner("r")})`)),
      (part, name) => `${name} = join${part}(li, ${name});`,
    );
    const { declarations, write } = bound();
    const helpers = `${r.by === "max" ? "" : tree(threads, "joinsum", plus)}${r.by === "sum" ? "" : tree(threads, "joinmax", larger)}`;
    const body = `let o = ${group}; if (o >= ${count}u) { return; }\n${code.text()}\nif (li == 0u) { ${write("o", value)} }`;
    return {
      stages: 1,
      kernel: { code: `${declarations}${helpers}${main(threads, body)}`, groups: gridOf(count) },
    };
  }
  const chunks =
    count >= 8192 || length < 256 || r.by === "logSumExp" ? 1 : Math.min(64, Math.ceil(length / 64));
  const size = Math.ceil(length / chunks);
  const base = code.name("u32", outer("o"));
  const value = loops(
    r.by,
    code,
    "for (var r = first; r < end; r++)",
    (c) => element(c, c.name("u32", `(${base} + ${inner("r")})`)),
    () => "",
  );
  const { declarations, write } = bound();
  if (chunks === 1) {
    const body = `let o = ${group} * 64u + li; if (o >= ${count}u) { return; }
let first = 0u; let end = ${length}u;\n${code.text()}\n${write("o", value)}`;
    return {
      stages: 1,
      kernel: { code: `${declarations}${main(64, body)}`, groups: gridOf(Math.ceil(count / 64)) },
    };
  }
  const start = `let o = wg.x * 64u + li; if (o >= ${count}u) { return; }`;
  const one = `${start}
let first = wg.y * ${size}u; let end = min(first + ${size}u, ${length}u);\n${code.text()}\n${write(`wg.y * ${count}u + o`, value)}`;
  const joined = `part[k * ${count}u + o]`;
  const two = `${start}
var total = ${r.by === "max" ? lowest : "0.0"};
for (var k = 0u; k < ${chunks}u; k++) { total = ${r.by === "max" ? `max(total, ${joined})` : `total + ${joined}`}; }
out[o] = total;`;
  const groups = Math.ceil(count / 64);
  const declared = `@group(0) @binding(0) var<storage, read> part: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;`;
  return {
    stages: 2,
    first: { code: `${declarations}${main(64, one)}`, groups: [groups, chunks, 1] },
    second: { code: `${declared}${main(64, two)}`, groups: [groups, 1, 1] },
    partial: chunks * count,
  };
}
