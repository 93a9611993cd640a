import { TensorError } from "./error.ts";
import { ancestors, emitValues, isInput, type Tensor } from "./graph.ts";
import { type Data, type Emit, type Node, writeModel } from "./onnx.ts";
import { type DType, type Shape, sizeOf } from "./shape.ts";

/** An input or output of a program. An array for it must have exactly this type and number of elements. */
export interface Port {
  readonly name: string;
  readonly shape: Shape;
  readonly dtype: DType;
}

/** A graph as ONNX bytes, with its inputs and outputs. */
export interface Program {
  readonly bytes: Uint8Array;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** Number of ONNX nodes before ONNX Runtime optimises. */
  readonly nodes: number;
}

/** The tensors that a program computes, by the names under which it returns them. */
export type Outputs = readonly { readonly name: string; readonly of: Tensor }[] | Record<string, Tensor>;

/** The name under which a tensor is fed: its own, or one made from its operation and id. */
export const nameOf = (t: Tensor): string => t.name ?? `${t.op.name}.${t.id}`;

const port = (name: string, t: Tensor): Port => ({ name, shape: t.shape, dtype: t.dtype });

export interface CompileOptions {
  /**
   * Products `x Wᵀ` of matrices are computed as `(W x′ᵀ)ᵀ` for every block x′ of this many rows of x, if they divide the
   * rows evenly; 2 rows or more, but fewer than these, are one block. ONNX Runtime repacks the second factor in every product,
   * which is faster for x than for W if the batch has few rows. Also, a row gets the same bits in a batch of any number of tiles.
   */
  readonly rowTile?: number;
}

/** An output that every program has and only `Session.runInto` requests. */
export const emptyList = "%nothing";

/** Collects nodes and constants, without duplicates. */
function collector(rowTile: number | undefined) {
  const nodes: Node[] = [];
  const constants: Data[] = [];
  const known = new Map<string, string[]>();
  let values = 0;
  const once = (key: string, count: number, make: (names: string[]) => void): string[] => {
    const old = known.get(key);
    if (old) return old;
    const names = Array.from({ length: count }, () => `%${values++}`);
    known.set(key, names);
    make(names);
    return names;
  };
  const many = (
    type: string,
    inputs: readonly string[],
    count: number,
    attributes: Node["attributes"] = {},
    domain = "",
  ) =>
    once(JSON.stringify([domain, type, inputs, attributes]), count, (outputs) =>
      nodes.push({ type, domain, inputs, outputs, attributes }),
    );
  const constant: Emit["constant"] = (type, shape, data) =>
    // a long one is compared by identity: serialising it would take longer than the rest of the graph
    once(JSON.stringify(["constant", type, shape, data.length > 64 ? values : data]), 1, ([name]) =>
      constants.push({ name: name!, type, shape, data }),
    )[0]!;
  const list: Emit["list"] = (numbers) => constant("int64", [numbers.length], numbers);
  const emit: Emit = {
    node: (type, inputs, attributes, domain) => many(type, inputs, 1, attributes, domain)[0]!,
    nodes: (type, inputs, count, attributes) => many(type, inputs, count, attributes),
    constant,
    list,
    filled: (type, shape, value) =>
      sizeOf(shape) === 1
        ? constant(type, shape, [value])
        : many("ConstantOfShape", [list(shape)], 1, {
            value: { tensor: { name: "", type, shape: [1], data: [value] } },
          })[0]!,
    rowTile,
  };
  return { nodes, constants, emit };
}

/**
 * Turn a graph into a program.
 * @param inputs tensors that are fed. Inner tensors are allowed: the traversal stops there, which is how to cut a graph in
 *   two. Inputs that no output needs are left out of the program.
 * @param outputs tensors to compute, under names that differ from those of inputs.
 */
export function compile(inputs: readonly Tensor[], outputs: Outputs, options: CompileOptions = {}): Program {
  const wanted = Array.isArray(outputs)
    ? (outputs as readonly { name: string; of: Tensor }[])
    : Object.entries(outputs as Record<string, Tensor>).map(([name, of]) => ({ name, of }));
  const fed = new Set(inputs);
  const reached = ancestors(
    wanted.map((o) => o.of),
    (t) => fed.has(t),
  );
  const reads = new Set(reached);
  const taken = [...fed].filter((t) => reads.has(t));
  requireDistinct([...taken.map(nameOf), ...wanted.map((o) => o.name)]);

  const { nodes, constants, emit } = collector(options.rowTile);
  const names = new Map(taken.map((t) => [t, nameOf(t)]));
  emitValues(
    wanted.map((o) => o.of),
    names,
    emit,
  );

  const produced = new Set(nodes.flatMap((n) => n.outputs));
  const renamed = new Map<string, string>();
  const copies: Node[] = [];
  for (const { name, of } of wanted) {
    const value = names.get(of)!;
    if (produced.has(value) && !renamed.has(value)) renamed.set(value, name);
    else copies.push({ type: "Identity", domain: "", inputs: [value], outputs: [name], attributes: {} });
  }
  const rename = (value: string): string => renamed.get(value) ?? value;
  const read = new Set([...nodes, ...copies].flatMap((n) => n.inputs));
  // an additional result that nothing reads gets no name, so that ONNX Runtime does not compute it
  const optional = (value: string): string => (read.has(value) || renamed.has(value) ? rename(value) : "");
  const all = [...nodes, ...copies].map((n) => ({
    ...n,
    inputs: n.inputs.map(rename),
    outputs: n.outputs.map((value, i) => (i === 0 || n.type === "Split" ? rename(value) : optional(value))),
  }));

  const inputPorts = taken.map((t) => port(nameOf(t), t));
  const outputPorts = wanted.map((o) => port(o.name, o.of));
  const value = (p: Port) => ({ name: p.name, type: p.dtype, shape: p.shape });
  const bytes = writeModel({
    nodes: all,
    constants,
    inputs: inputPorts.map(value),
    outputs: outputPorts.map(value),
    emptyList,
  });
  return { bytes, inputs: inputPorts, outputs: outputPorts, nodes: all.length };
}

function requireDistinct(names: readonly string[]): void {
  const twice = names.find((n, i) => names.indexOf(n) !== i);
  if (twice === undefined) return;
  throw new TensorError("compile", {
    got: `the name "${twice}" twice`,
    expected: "a different name for every input and output",
    fix: "Rename one of them; an output that overwrites an input needs its own name.",
  });
}

/**
 * The values that a forward program must return for its backward program: the tensors, other than inputs, that the
 * forward outputs are computed from and the rest of the backward graph reads. Values that are cheaper to recompute
 * than to keep (see `again` in an op file) are replaced by their sources.
 */
export function residuals(forwardOutputs: readonly Tensor[], backwardOutputs: readonly Tensor[]): Tensor[] {
  const forward = new Set(ancestors(forwardOutputs));
  const read = new Set<Tensor>(backwardOutputs.filter((t) => forward.has(t)));
  for (const t of ancestors(backwardOutputs, (t) => forward.has(t))) {
    if (!forward.has(t)) for (const x of t.inputs) if (forward.has(x)) read.add(x);
  }
  const kept = new Set<Tensor>();
  const copies: Tensor[] = [];
  const visit = (t: Tensor): void => {
    if (isInput(t)) return;
    if (t.op.again === "copy") copies.push(t);
    else if (t.op.again === "free") t.inputs.forEach(visit);
    else kept.add(t);
  };
  read.forEach(visit);
  for (const t of copies.sort((a, b) => a.id - b.id)) if (!isAtHand(t, kept)) kept.add(t);
  return [...kept].sort((a, b) => a.id - b.id);
}

/** Whether a value can be recomputed from inputs and kept tensors with cheap operations only. */
function isAtHand(t: Tensor, kept: ReadonlySet<Tensor>): boolean {
  return isInput(t) || kept.has(t) || (t.op.again !== undefined && t.inputs.every((x) => isAtHand(x, kept)));
}
