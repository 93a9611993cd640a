import { node, type Operation, type Tensor } from "../graph.ts";
import { addAt } from "./addAt.ts";
import { exp } from "./exp.ts";
import { logSoftmax } from "./logSoftmax.ts";
import { logSumExp } from "./logSumExp.ts";
import { mul } from "./mul.ts";
import { neg } from "./neg.ts";
import { pick } from "./pick.ts";
import { reshape } from "./reshape.ts";
import { sub } from "./sub.ts";

const operation: Operation<null> = {
  name: "logProbability",
  // g (one-hot − p): the row of probabilities once, and one number added at the id
  gradient: ({ inputs: [logits, ids] }, g) => {
    const column = [...g.shape, 1];
    const all = logSoftmax(logits!);
    const spread = mul(exp(all), reshape(neg(g), column));
    return [addAt(spread, reshape(ids!, column), reshape(g, column)), undefined];
  },
  onnx: (y, [logits, ids], emit) => {
    const column = emit.node("Reshape", [ids!, emit.list([...y.shape, 1])]);
    const all = emit.node("LogSoftmax", [logits!], { axis: { int: -1 } });
    const picked = emit.node("GatherElements", [all, column], { axis: { int: -1 } });
    return emit.node("Reshape", [picked, emit.list(y.shape)]);
  },
  wgsl: {
    kind: "rewrite",
    as: ({ inputs: [x, ids] }) => sub(pick(x!, ids!), reshape(logSumExp(x!), ids!.shape)),
  },
  reference: (y, [logits, ids]) => {
    const n = y.inputs[0]!.shape.at(-1)!;
    return ids!.map((id, i) => {
      const row = logits!.subarray(i * n, (i + 1) * n);
      const top = row.reduce((a, b) => Math.max(a, b));
      return row[id]! - top - Math.log(row.reduce((total, u) => total + Math.exp(u - top), 0));
    });
  },
};

/**
 * ln of the softmax probability of one id in each row: pick(logSoftmax(logits), ids), but the gradient takes three
 * passes over the logits instead of five.
 * @param logits shape [..., V]. @param ids int32 in [0, V), shape [...]. @returns shape [...].
 */
export function logProbability(logits: Tensor, ids: Tensor): Tensor {
  const { shape } = pick(logits, ids); // its errors are ours
  return node(operation, [logits, ids], null, shape);
}
