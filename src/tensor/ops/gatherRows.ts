import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { show, sizeOf } from "../shape.ts";
import { addRows } from "./addRows.ts";

/** Row i of the result is the row of the first input that element i of the second names. */
export const rowsById: NonNullable<Operation<null>["wgsl"]> = {
  kind: "map",
  element: (y, at, code) => {
    const width = sizeOf(y.inputs[0]!.shape.slice(1));
    const row = code.read(1, code.name("u32", `(${at} / ${width}u)`));
    return code.read(0, code.name("u32", `(u32(${row}) * ${width}u + ${at} % ${width}u)`));
  },
};

const operation: Operation<null> = {
  name: "gatherRows",
  gradient: ({ inputs: [table, ids] }, g) => [addRows(ids!, g, table!.shape[0]!), undefined],
  onnx: (_, inputs, emit) => emit.node("Gather", inputs, { axis: { int: 0 } }),
  wgsl: rowsById,
  reference: (y, [table, ids]) => {
    const width = sizeOf(y.inputs[0]!.shape.slice(1));
    const result = new Float64Array(sizeOf(y.shape));
    ids!.forEach((id, i) => {
      result.set(table!.subarray(id * width, (id + 1) * width), i * width);
    });
    return result;
  },
};

/**
 * Look rows up, as an embedding does.
 * @param table shape [V, ...D].
 * @param ids int32 in [0, V), any shape.
 * @returns shape [...ids, ...D].
 */
export function gatherRows(table: Tensor, ids: Tensor): Tensor {
  requireDType("gatherRows", "ids", ids, "int32");
  if (table.shape.length < 1) {
    throw new TensorError("gatherRows", {
      got: `a table of shape ${show(table.shape)}`,
      expected: "a table with rows",
      fix: "Give the table a leading axis.",
    });
  }
  return node(operation, [table, ids], null, [...ids.shape, ...table.shape.slice(1)], table.dtype);
}
