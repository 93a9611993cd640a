/**
 * WGSL by element: an operation says how one element of its result follows from elements of its inputs, and the planner joins
 * such expressions into kernels.
 */
import { TensorError } from "../error.ts";
import type { DType, Shape } from "../shape.ts";

/** What the expressions need of a tensor. */
export interface Shaped {
  readonly shape: Shape;
  readonly dtype: DType;
  readonly inputs: readonly Omit<Shaped, "inputs">[];
}

export type WgslType = "f32" | "i32" | "u32" | "bool";

/** Statements of one kernel under construction. Values and indices are WGSL expressions; indices are u32 and row-major. */
export interface Code {
  /** The element of an input at a flat index. */
  read(input: number, at: string): string;
  /** A name for a value, so that it is computed once. */
  name(type: WgslType, value: string): string;
  /** One of two values; only the chosen one is computed, so that an index may be valid for one of them alone. */
  choose(type: WgslType, condition: string, yes: () => string, no: () => string): string;
  /** A sum over `count` values. */
  total(count: number, value: (i: string) => string): string;
}

export const wgslType = (dtype: DType): WgslType =>
  dtype === "float32" ? "f32" : dtype === "int32" ? "i32" : "bool";

/** The type of an element in memory: a boolean takes 4 bytes. */
export const storageType = (dtype: DType): "f32" | "i32" | "u32" =>
  dtype === "float32" ? "f32" : dtype === "int32" ? "i32" : "u32";

/** A number as a WGSL literal. @throws TensorError where WGSL has none. */
export function literal(dtype: DType, x: number): string {
  if (dtype === "bool") return x === 0 ? "false" : "true";
  if (dtype === "int32") return x < 0 ? `(${x}i)` : `${x}i`;
  if (!Number.isFinite(x)) {
    throw new TensorError("wgsl", {
      got: `the constant ${x}`,
      expected: "a finite number, since WGSL has no other literals",
      fix: "Use a large number instead, as attention masks do.",
    });
  }
  const digits = String(Math.fround(x));
  const written = /[.e]/.test(digits) ? digits : `${digits}.0`;
  return x < 0 || Object.is(x, -0)
    ? `(${written.startsWith("-") ? written : `-${written}`}f)`
    : `${written}f`;
}

/** Steps between neighbours along each axis, row-major. */
export function stridesOf(shape: Shape): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let a = shape.length - 2; a >= 0; a--) strides[a] = strides[a + 1]! * shape[a + 1]!;
  return strides;
}

/** Steps for reading `from` as if it were broadcast to `to`. */
export function broadcastStrides(from: Shape, to: Shape): number[] {
  const own = stridesOf(from);
  const lead = to.length - from.length;
  return to.map((_, a) => (a < lead || from[a - lead] === 1 ? 0 : own[a - lead]!));
}

/** The index Σ coordinate · stride + offset of the element of `shape` at a flat index. */
export function strided(at: string, shape: Shape, strides: readonly number[], offset = 0): string {
  const runs: { length: number; stride: number }[] = [];
  shape.forEach((length, a) => {
    if (length === 1) return;
    const stride = strides[a]!;
    const last = runs.at(-1);
    if (last && last.stride === stride * length) {
      last.length *= length;
      last.stride = stride;
    } else runs.push({ length, stride });
  });
  let inner = 1;
  const terms: string[] = [];
  for (const [i, { length, stride }] of [...runs.entries()].reverse()) {
    if (stride !== 0) {
      const whole = inner === 1 ? at : `(${at} / ${inner}u)`;
      const coordinate = i === 0 ? whole : `(${whole} % ${length}u)`;
      terms.unshift(stride === 1 ? coordinate : `${coordinate} * ${stride}u`);
    }
    inner *= length;
  }
  if (offset > 0) terms.push(`${offset}u`);
  return terms.length === 0
    ? "0u"
    : terms.length === 1 && offset === 0
      ? terms[0]!
      : `(${terms.join(" + ")})`;
}

/** An input's element at a flat index of the result that it is broadcast to. */
export const readBroadcast = (code: Code, y: Shaped, input: number, at: string): string =>
  code.read(input, code.name("u32", strided(at, y.shape, broadcastStrides(y.inputs[input]!.shape, y.shape))));

const isPlain = (value: string): boolean => /^[\w.]+$/.test(value);

/** Collects statements. @param read the value of a tensor at a flat index; it may add statements by `code`. */
export function statements() {
  let lines: string[] = [];
  let known = new Map<string, string>();
  let names = 0;
  /** Statements of a block, which see the names around them. */
  function inside<T>(work: () => T): { readonly result: T; readonly lines: string[] } {
    const [outer, around] = [lines, known];
    lines = [];
    known = new Map(around);
    const result = work();
    const inner = lines;
    lines = outer;
    known = around;
    return { result, lines: inner };
  }
  const name = (type: WgslType, value: string): string => {
    if (isPlain(value)) return value;
    const key = `${type} ${value}`;
    const old = known.get(key);
    if (old !== undefined) return old;
    const made = `v${names++}`;
    known.set(key, made);
    lines.push(`let ${made}: ${type} = ${value};`);
    return made;
  };
  return {
    name,
    inside,
    add: (line: string): void => {
      lines.push(line);
    },
    fresh: (): string => `v${names++}`,
    choose(type: WgslType, condition: string, yes: () => string, no: () => string): string {
      const test = name("bool", condition);
      const made = `v${names++}`;
      const [first, second] = [inside(yes), inside(no)];
      lines.push(`var ${made}: ${type};`);
      lines.push(`if (${test}) { ${first.lines.join(" ")} ${made} = ${first.result}; }`);
      lines.push(`else { ${second.lines.join(" ")} ${made} = ${second.result}; }`);
      return made;
    },
    total(count: number, value: (i: string) => string): string {
      const [made, i] = [`v${names++}`, `v${names++}`];
      const { result, lines: body } = inside(() => value(i));
      lines.push(`var ${made}: f32 = 0.0;`);
      lines.push(`for (var ${i} = 0u; ${i} < ${count}u; ${i}++) { ${body.join(" ")} ${made} += ${result}; }`);
      return made;
    },
    text: (): string => lines.join("\n"),
  };
}

export type Statements = ReturnType<typeof statements>;
