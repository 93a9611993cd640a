/**
 * A plan of kernels for a graph: chains of elementwise operations become one kernel, joined into the reductions that read them;
 * intermediate values share few buffers; outputs that update an input are written in place.
 */
import { nameOf, type Outputs, type Port } from "../compile.ts";
import { ancestors, isInput, type Tensor } from "../graph.ts";
import { type DType, sizeOf } from "../shape.ts";
import {
  type Graph,
  isConstant,
  keptOf,
  loweringOf,
  type Place,
  type Plan,
  type PlanOptions,
  partsRead,
  type Step,
  summariesOf,
  type Work,
} from "./fusion.ts";
import { roomFor } from "./products.ts";
import { simplified } from "./simplify.ts";
import { addRows, compute, type Making, put, update } from "./works.ts";

export type { Place, Plan, PlanOptions, Step };

/** How an output that is written in place follows from the input that it updates. */
type Part = { readonly kind: "update"; readonly of: Tensor } | { readonly kind: "add"; readonly of: Tensor };

/** Most additions of other kinds in a chain: either side may lead to the input. */
const mostAdds = 8;

function partsOf(t: Tensor, into: Tensor, resolve: (t: Tensor) => Tensor, depth = 0): Part[] | undefined {
  const of = resolve(t);
  if (of === into) return [];
  if (depth > mostAdds || isInput(of) || isConstant(of)) return undefined;
  const { kind } = loweringOf(of);
  if (kind === "addProduct" || kind === "scatter") {
    const before = partsOf(of.inputs[0]!, into, resolve, depth);
    return before && [...before, { kind: "update", of }];
  }
  if (of.op.name !== "add") return undefined;
  for (const i of [0, 1]) {
    const before = partsOf(of.inputs[i]!, into, resolve, depth + 1);
    if (before && sizeOf(of.inputs[1 - i]!.shape) === sizeOf(of.shape)) {
      return [...before, { kind: "add", of: of.inputs[1 - i]! }];
    }
  }
  return undefined;
}

/** Something to emit. The order of keys is that in which values become known; what is read is emitted right before. */
interface Task {
  readonly key: number;
  readonly run: () => void;
}

/**
 * @param inputs tensors that are fed; the traversal stops there. @param outputs as for `compile`.
 * @throws TensorError for an operation without kernels.
 */
export function plan(inputs: readonly Tensor[], outputs: Outputs, options: PlanOptions): Plan {
  const given = Array.isArray(outputs)
    ? (outputs as readonly { name: string; of: Tensor }[])
    : Object.entries(outputs as Record<string, Tensor>).map(([name, of]) => ({ name, of }));
  const fed = new Set(inputs);
  const byName = new Map(inputs.map((t) => [nameOf(t), t]));
  const simple = simplified(
    given.map((o) => o.of),
    fed,
    !options.fewRows,
  );
  const resolve = (t: Tensor): Tensor => {
    let x = t;
    while (!fed.has(x) && x.op.wgsl?.kind === "view") x = x.inputs[0]!;
    return x;
  };
  const wanted = given.map(({ name, of }, i) => ({
    name,
    of: resolve(simple[i]!),
    shape: of.shape,
    dtype: of.dtype,
  }));
  const chains = new Map<string, { into: Tensor; parts: Part[] }>();
  for (const { name, of } of wanted) {
    const target = options.updates?.[name];
    if (target === undefined) continue;
    const into = byName.get(target)!;
    chains.set(name, { into, parts: partsOf(of, into, resolve) ?? [] });
  }
  const isUpdated = (name: string): boolean => chains.has(name);
  // what the last step of each chain reads; steps before it are read by none but the chain, or in place
  const roots = wanted.flatMap(({ name, of }) => {
    const chain = chains.get(name);
    if (!chain) return [of];
    return chain.parts.length === 0 ? [of] : chain.parts.map((p) => resolve(p.of));
  });
  const inPlace = new Map<Tensor, Tensor>();
  for (const { into, parts } of chains.values())
    for (const p of parts) if (p.kind === "update") inPlace.set(p.of, into);
  // added into a buffer by their own tasks
  const added = new Set([...chains.values()].flatMap(({ parts }) => parts.map(({ of }) => resolve(of))));
  const all = ancestors(roots, (t) => fed.has(t)).filter(
    (t) => !fed.has(t) && !isConstant(t) && t.op.wgsl?.kind !== "view",
  );
  const bufferRoots = wanted
    .filter(({ name }) => !isUpdated(name) || chains.get(name)!.parts.length === 0)
    .map((w) => w.of);
  const kept = keptOf(all, bufferRoots, { fed, resolve }, options);
  const summaries = summariesOf(all, kept, resolve);
  const parts = partsRead(all, bufferRoots, resolve, options);
  const g: Graph = { fed, kept, parts, resolve };
  const making: Making = { g, options };
  const order: Work[] = [];
  const [done, computed] = [new Set<Tensor>(), new Set<Tensor>()];
  const push = (work: Work): void => {
    for (const x of [...work.reads].sort((a, b) => a.id - b.id)) emit(x);
    order.push(work);
  };
  /** Emits what computes a value, once. */
  function emit(t: Tensor): void {
    if (done.has(t) || fed.has(t) || isConstant(t)) return;
    done.add(t);
    const into = inPlace.get(t);
    for (const work of into ? [update(making, t, into)] : compute(making, t)) push(work);
    computed.add(t);
    // so that a large value need not stay until its summaries are wanted
    const isKnown = (x: Tensor): boolean => computed.has(x) || fed.has(x) || isConstant(x);
    for (const { of, reads } of summaries.get(t) ?? []) if (!added.has(of) && reads.every(isKnown)) emit(of);
  }
  const keyOf = (t: Tensor): number => (isConstant(t) || fed.has(t) ? 0 : t.id);
  const tasks: Task[] = wanted.flatMap(({ name }): Task[] => {
    const chain = chains.get(name);
    if (!chain) return [];
    // writes to places of a buffer stay in their order; what is added up does not need it
    const inOrder = chain.parts.some(
      ({ kind, of }) => kind === "update" && loweringOf(of).kind === "scatter",
    );
    let key = 0;
    return chain.parts.map((part) => {
      const x = resolve(part.of);
      const reads = part.kind === "update" ? part.of.inputs.slice(1) : [x];
      key = Math.max(inOrder ? key : 0, ...reads.map((i) => keyOf(resolve(i))));
      return {
        key,
        run: () => {
          if (part.kind === "update") emit(part.of);
          else push(x.op.wgsl?.kind === "addRows" ? addRows(g, x, chain.into) : put(g, x, chain.into, true));
        },
      };
    });
  });
  const plain = wanted.filter(({ name }) => !isUpdated(name));
  for (const { of } of plain) tasks.push({ key: keyOf(of), run: () => emit(of) });
  for (const task of tasks.sort((a, b) => a.key - b.key)) task.run();
  const taken = new Map<Tensor, string>();
  const copies: { readonly of: Tensor; readonly name: string }[] = [];
  for (const { name, of } of plain) {
    if (done.has(of) && !taken.has(of) && !inPlace.has(of)) taken.set(of, name);
    else copies.push({ of, name });
  }
  for (const [name, { into, parts }] of chains) {
    const { of } = wanted.find((w) => w.name === name)!;
    if (parts.length > 0 || of === into) continue;
    push(put(g, of, into, false));
  }
  const copied = copies.map(({ of, name }) => ({ work: put(g, of, of, false), name }));
  for (const { work } of copied) for (const x of work.reads) emit(x);
  return laid({ g, order, copied, inPlace, taken, wanted: plain, inputs });
}

interface Laying {
  readonly g: Graph;
  readonly order: readonly Work[];
  readonly copied: readonly { readonly work: Work; readonly name: string }[];
  readonly inPlace: ReadonlyMap<Tensor, Tensor>;
  readonly taken: ReadonlyMap<Tensor, string>;
  readonly wanted: readonly Port[];
  readonly inputs: readonly Tensor[];
}

/** Gives values their places. A buffer is free again after the last kernel that reads it. */
function laid({ g, order, copied, inPlace, taken, wanted, inputs }: Laying): Plan {
  const { fed } = g;
  const lastUse = new Map<Tensor, number>();
  order.forEach(({ reads, into }, i) => {
    for (const x of [...reads, into]) lastUse.set(x, i);
  });
  for (const { work } of copied) for (const x of work.reads) lastUse.set(x, Number.POSITIVE_INFINITY);
  const sizes: number[] = [];
  let free: number[] = [];
  const slots = new Map<Tensor, number>();
  const take = (bytes: number): number => {
    const fits = free
      .filter((s) => sizes[s]! >= bytes && sizes[s]! <= 2 * bytes + 65536)
      .sort((a, b) => sizes[a]! - sizes[b]!);
    const slot = fits[0];
    if (slot === undefined) return sizes.push(bytes) - 1;
    free = free.filter((s) => s !== slot);
    return slot;
  };
  const constants: { dtype: DType; data: readonly number[] }[] = [];
  const constantOf = new Map<Tensor, number>();
  const used = new Set<Tensor>();
  const place = (t: Tensor): Place => {
    if (fed.has(t)) {
      used.add(t);
      return { kind: "input", name: nameOf(t) };
    }
    if (isConstant(t)) {
      const known = constantOf.get(t) ?? constants.length;
      if (known === constants.length) {
        const { data } = t.attributes;
        const all = data.length === 1 ? new Array<number>(sizeOf(t.shape)).fill(data[0]!) : data;
        constants.push({ dtype: t.dtype, data: all });
        constantOf.set(t, known);
      }
      return { kind: "constant", index: known };
    }
    const target = inPlace.get(t);
    if (target) return place(target);
    const output = taken.get(t);
    if (output !== undefined) return { kind: "output", name: output };
    const slot = slots.get(t);
    if (slot === undefined) throw new Error(`${t.op.name} is read before it is computed`);
    return { kind: "temporary", slot };
  };
  const steps: Step[] = [];
  const emit = (work: Work, out: Place): void => {
    const scratch: number[] = [];
    const made = work.emit(place, out, (bytes) => {
      const slot = take(bytes);
      scratch.push(slot);
      return { kind: "temporary", slot };
    });
    steps.push(...made);
    free.push(...scratch);
  };
  order.forEach((work, i) => {
    const { into } = work;
    if (!fed.has(into) && !taken.has(into) && !inPlace.has(into) && !slots.has(into))
      slots.set(into, take(roomFor(into.shape) * (g.parts.get(into) ?? 1)));
    emit(work, place(into));
    for (const x of new Set([...work.reads, into])) {
      const slot = slots.get(x);
      if (slot !== undefined && lastUse.get(x) === i) free.push(slot);
    }
  });
  for (const { work, name } of copied) emit(work, { kind: "output", name });
  return {
    inputs: inputs
      .filter((t) => used.has(t))
      .map((t) => ({ name: nameOf(t), shape: t.shape, dtype: t.dtype })),
    outputs: wanted.map(({ name, shape, dtype }) => ({ name, shape, dtype })),
    steps,
    temporaries: sizes,
    constants,
  };
}
