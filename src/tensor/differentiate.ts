import { TensorError } from "./error.ts";
import { ancestors, constant, type Tensor } from "./graph.ts";
import { add } from "./ops/add.ts";
import { mergeEmbeds } from "./ops/embed.ts";
import { sameShape, show } from "./shape.ts";

/**
 * Vector–Jacobian product in reverse mode, as an extension of the graph.
 * @param outputs tensors with the cotangent of each, of the same shape.
 * @param wrt tensors, including inner ones, to differentiate with respect to.
 * @returns one cotangent for each of wrt; zeros if no output depends on it.
 */
export function differentiate(
  outputs: readonly { readonly of: Tensor; readonly cotangent: Tensor }[],
  wrt: readonly Tensor[],
): Tensor[] {
  const asked = new Set(wrt);
  const order = ancestors(outputs.map((o) => o.of));
  const depends = new Set<Tensor>();
  for (const t of order) if (asked.has(t) || t.inputs.some((x) => depends.has(x))) depends.add(t);

  const parts = new Map<Tensor, Tensor[]>();
  const give = (to: Tensor, cotangent: Tensor): void => {
    requireFit(to, cotangent);
    parts.get(to)?.push(cotangent) ?? parts.set(to, [cotangent]);
  };
  for (const { of, cotangent } of outputs) give(of, cotangent);

  const totals = new Map<Tensor, Tensor>();
  for (const t of order.toReversed()) {
    const mine = parts.get(t);
    if (!mine || !depends.has(t)) continue;
    const total = mergeEmbeds(mine).reduce((a, b) => add(a, b));
    totals.set(t, total);
    if (!t.inputs.some((x) => depends.has(x))) continue;
    const back = t.op.gradient(t, total);
    t.inputs.forEach((x, i) => {
      const part = back[i];
      if (part && depends.has(x)) give(x, part);
    });
  }
  return wrt.map((t) => totals.get(t) ?? constant(0, t.shape));
}

function requireFit(of: Tensor, cotangent: Tensor): void {
  if (sameShape(of.shape, cotangent.shape)) return;
  throw new TensorError("differentiate", {
    got: `a cotangent of shape ${show(cotangent.shape)} for a ${of.op.name} of shape ${show(of.shape)}`,
    expected: "equal shapes",
    fix: "Give each output a cotangent of its own shape; broadcastTo repeats a scalar.",
  });
}
