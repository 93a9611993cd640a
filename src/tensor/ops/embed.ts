import { TensorError } from "../error.ts";
import { constant, node, type Operation, type Tensor } from "../graph.ts";
import { checkAxis, ravel, show, sizeOf, unravel } from "../shape.ts";
import { literal, stridesOf, wgslType } from "../wgsl/code.ts";
import { concat } from "./concat.ts";
import { slice } from "./slice.ts";

interface Attributes {
  readonly axis: number;
  readonly from: number;
}

const operation: Operation<Attributes> = {
  name: "embed",
  gradient: ({ inputs: [x], attributes: { axis, from } }, g) => [
    slice(g, axis, from, from + x!.shape[axis]!),
  ],
  onnx: (y, [x], emit) => {
    const { axis, from } = y.attributes;
    const length = y.inputs[0]!.shape[axis]!;
    const zeros = (n: number) => (n === 0 ? [] : [emit.filled(y.dtype, y.shape.with(axis, n), 0)]);
    return emit.node("Concat", [...zeros(from), x!, ...zeros(y.shape[axis]! - from - length)], {
      axis: { int: axis },
    });
  },
  wgsl: {
    kind: "map",
    element: (y, at, code) => {
      const { axis, from } = y.attributes;
      const length = y.inputs[0]!.shape[axis]!;
      const inner = stridesOf(y.shape)[axis]!;
      const along = code.name("u32", `((${at} / ${inner}u) % ${y.shape[axis]!}u)`);
      const own = `(((${at} / ${inner * y.shape[axis]!}u) * ${length}u + ${along} - ${from}u) * ${inner}u + ${at} % ${inner}u)`;
      return code.choose(
        wgslType(y.dtype),
        `(${along} >= ${from}u && ${along} < ${from + length}u)`,
        () => code.read(0, code.name("u32", own)),
        () => literal(y.dtype, 0),
      );
    },
  },
  reference: (y, [x]) => {
    const { axis, from } = y.attributes;
    const result = new Float64Array(sizeOf(y.shape));
    x!.forEach((value, index) => {
      const at = unravel(index, y.inputs[0]!.shape);
      result[ravel(at.with(axis, at[axis]! + from), y.shape)] = value;
    });
    return result;
  },
};

/** Zeros with the given length along an axis, and x from an index on: the gradient of slice. */
export function embed(x: Tensor, axis: number, from: number, length: number): Tensor {
  const along = checkAxis("embed", axis, x.shape);
  if (!(Number.isInteger(from) && 0 <= from && from + x.shape[along]! <= length)) {
    throw new TensorError("embed", {
      got: `shape ${show(x.shape)} from ${from} in length ${length} on axis ${along}`,
      expected: `from 0 to ${length - x.shape[along]!}`,
      fix: "Make the length large enough to hold the tensor.",
    });
  }
  if (x.shape[along] === length) return x;
  return node(operation, [x], { axis: along, from }, x.shape.with(along, length), x.dtype);
}

/**
 * Rewrite a sum of tensors: embedded, non-overlapping pieces of one axis become one concatenation, so that the gradient of
 * a split costs one copy. The sum of the result equals the sum of the parts.
 */
export function mergeEmbeds(parts: readonly Tensor[]): Tensor[] {
  const isEmbed = (t: Tensor): t is Tensor<Attributes> => t.op === (operation as Operation);
  const first = parts.find(isEmbed);
  if (!first || parts.filter(isEmbed).length < 2) return [...parts];
  const { axis } = first.attributes;
  const total = first.shape[axis]!;
  const pieces: Tensor[] = [];
  const rest = parts.filter((p) => !isEmbed(p) || p.attributes.axis !== axis);
  const zeros = (n: number) => (n > 0 ? [constant(0, first.shape.with(axis, n), first.dtype)] : []);
  let end = 0;
  for (const p of parts
    .filter(isEmbed)
    .filter((p) => p.attributes.axis === axis)
    .sort((a, b) => a.attributes.from - b.attributes.from)) {
    const { from } = p.attributes;
    if (from < end) rest.push(p);
    else {
      pieces.push(...zeros(from - end), p.inputs[0]!);
      end = from + p.inputs[0]!.shape[axis]!;
    }
  }
  return [concat([...pieces, ...zeros(total - end)], axis), ...mergeEmbeds(rest)];
}
