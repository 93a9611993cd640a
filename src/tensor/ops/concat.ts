import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { checkAxis, ravel, show, unravel } from "../shape.ts";
import { stridesOf, wgslType } from "../wgsl/code.ts";
import { slice } from "./slice.ts";

interface Attributes {
  readonly axis: number;
}

/** Offset of each part along the axis, and the end of the last. */
function offsets(parts: readonly Tensor[], axis: number): number[] {
  const at = [0];
  for (const p of parts) at.push(at.at(-1)! + p.shape[axis]!);
  return at;
}

const operation: Operation<Attributes> = {
  name: "concat",
  gradient: ({ inputs, attributes: { axis } }, g) => {
    const at = offsets(inputs, axis);
    return inputs.map((_, i) => slice(g, axis, at[i]!, at[i + 1]!));
  },
  onnx: (y, inputs, emit) => emit.node("Concat", inputs, { axis: { int: y.attributes.axis } }),
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const { axis } = y.attributes;
      const inner = stridesOf(y.shape)[axis]!;
      const along = code.name("u32", `((${at} / ${inner}u) % ${y.shape[axis]!}u)`);
      const before = code.name("u32", `(${at} / ${inner * y.shape[axis]!}u)`);
      const rest = code.name("u32", `(${at} % ${inner}u)`);
      const start = offsets(y.inputs, axis);
      const part = (i: number): string => {
        const length = y.inputs[i]!.shape[axis]!;
        const own = (): string =>
          code.read(
            i,
            code.name("u32", `((${before} * ${length}u + ${along} - ${start[i]!}u) * ${inner}u + ${rest})`),
          );
        return i === y.inputs.length - 1
          ? own()
          : code.choose(wgslType(y.dtype), `(${along} < ${start[i + 1]!}u)`, own, () => part(i + 1));
      };
      return part(0);
    },
  },
  reference: (y, parts) => {
    const { axis } = y.attributes;
    const at = offsets(y.inputs, axis);
    return Float64Array.from({ length: parts.reduce((n, p) => n + p.length, 0) }, (_, index) => {
      const to = unravel(index, y.shape);
      const part = at.findLastIndex((from) => from <= to[axis]!);
      return parts[part]![ravel(to.with(axis, to[axis]! - at[part]!), y.inputs[part]!.shape)]!;
    });
  },
};

/** A GPU's kernel reads few buffers: more parts are joined by groups. */
const mostAtOnce = 6;

/** Join tensors along an axis; the other axes have equal lengths. */
export function concat(parts: readonly Tensor[], axis: number): Tensor {
  const first = parts[0];
  if (!first) {
    throw new TensorError("concat", {
      got: "no tensors",
      expected: "at least one",
      fix: "Skip the concatenation if the list is empty.",
    });
  }
  const along = checkAxis("concat", axis, first.shape);
  for (const p of parts) {
    requireDType("concat", "a part", p, first.dtype);
    if (
      p.shape.length !== first.shape.length ||
      p.shape.some((n, i) => i !== along && n !== first.shape[i])
    ) {
      throw new TensorError("concat", {
        got: `shapes ${parts.map((q) => show(q.shape)).join(", ")} along axis ${along}`,
        expected: "equal lengths on every other axis",
        fix: "Reshape or slice the parts so that only the joined axis differs.",
      });
    }
  }
  if (parts.length === 1) return first;
  if (parts.length > mostAtOnce) {
    const each = Math.ceil(parts.length / mostAtOnce);
    const groups = Array.from({ length: Math.ceil(parts.length / each) }, (_, i) =>
      concat(parts.slice(i * each, (i + 1) * each), axis),
    );
    return concat(groups, axis);
  }
  const total = parts.reduce((n, p) => n + p.shape[along]!, 0);
  return node(operation, parts, { axis: along }, first.shape.with(along, total), first.dtype);
}
