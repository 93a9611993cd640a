import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { sameShape, show } from "../shape.ts";
import { lastOf } from "../wgsl/lowering.ts";
import { place } from "./place.ts";

const operation: Operation<null> = {
  name: "pick",
  gradient: ({ inputs: [x, ids] }, g) => [place(ids!, g, x!.shape.at(-1)!), undefined],
  onnx: (y, [x, ids], emit) => {
    const one = emit.node("Reshape", [ids!, emit.list([...y.shape, 1])]);
    return emit.node("Reshape", [
      emit.node("GatherElements", [x!, one], { axis: { int: -1 } }),
      emit.list(y.shape),
    ]);
  },
  wgsl: {
    kind: "map",
    element: (y, at, code) =>
      code.read(0, code.name("u32", `(${at} * ${lastOf(y.inputs[0]!.shape)}u + u32(${code.read(1, at)}))`)),
  },
  reference: (y, [x, ids]) => {
    const n = y.inputs[0]!.shape.at(-1)!;
    return ids!.map((id, i) => x![i * n + id]!);
  },
};

/**
 * Take one element along the last axis.
 * @param x shape [..., V]. @param ids int32 in [0, V), shape [...]. @returns shape [...].
 */
export function pick(x: Tensor, ids: Tensor): Tensor {
  requireDType("pick", "ids", ids, "int32");
  if (x.shape.length < 1 || !sameShape(ids.shape, x.shape.slice(0, -1))) {
    throw new TensorError("pick", {
      got: `ids of shape ${show(ids.shape)} for a tensor of shape ${show(x.shape)}`,
      expected: "one id for each position before the last axis",
      fix: "Reshape ids to the tensor's shape without its last axis.",
    });
  }
  return node(operation, [x, ids], null, ids.shape, x.dtype);
}
