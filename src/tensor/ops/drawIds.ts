import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { elementType } from "../onnx.ts";
import { sameShape, show } from "../shape.ts";

const operation: Operation<null> = {
  name: "drawIds",
  gradient: () => [],
  onnx: (y, [p, u], emit) => {
    const running = emit.node("CumSum", [p!, emit.constant("int64", [], [-1])]);
    const n = y.inputs[0]!.shape.at(-1)!;
    const last = emit.node("Slice", [running, emit.list([n - 1]), emit.list([n]), emit.list([-1])]);
    const column = emit.node("Reshape", [u!, emit.list([...y.shape, 1])]);
    const reached = emit.node("LessOrEqual", [running, emit.node("Mul", [column, last])]);
    const passed = emit.node("Cast", [reached], { to: { int: elementType("int32") } });
    const count = emit.node("ReduceSum", [passed, emit.list([-1])], { keepdims: { int: 0 } });
    return emit.node("Min", [count, emit.constant("int32", [], [n - 1])]);
  },
  wgsl: { kind: "drawIds" },
  reference: (y, [p, u]) => {
    const n = y.inputs[0]!.shape.at(-1)!;
    return u!.map((x, r) => {
      const row = p!.subarray(r * n, (r + 1) * n);
      const total = row.reduce((a, b) => a + b, 0);
      let sum = 0;
      const at = row.findIndex((w) => (sum += w) > x * total);
      return at < 0 ? n - 1 : at;
    });
  },
};

/**
 * An index drawn from each row of weights by inverting their running sum: the first at which it exceeds u times the whole.
 * No gradient.
 * @param p shape [..., V], not negative. @param u uniform in [0, 1), shape [...]. @returns int32, shape [...].
 */
export function drawIds(p: Tensor, u: Tensor): Tensor {
  requireDType("drawIds", "the weights", p, "float32");
  requireDType("drawIds", "the uniform numbers", u, "float32");
  if (p.shape.length < 1 || !sameShape(u.shape, p.shape.slice(0, -1))) {
    throw new TensorError("drawIds", {
      got: `uniform numbers of shape ${show(u.shape)} for weights of shape ${show(p.shape)}`,
      expected: "one for each row",
      fix: "Reshape them to the weights' shape without its last axis.",
    });
  }
  return node(operation, [p, u], null, u.shape, "int32");
}
