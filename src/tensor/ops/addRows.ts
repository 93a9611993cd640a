import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { sameShape, show, sizeOf } from "../shape.ts";
import { gatherRows } from "./gatherRows.ts";

const operation: Operation<null> = {
  name: "addRows",
  gradient: ({ inputs: [ids] }, g) => [undefined, gatherRows(g, ids!)],
  onnx: (y, [ids, rows], emit) => {
    const count = sizeOf(y.inputs[0]!.shape);
    const flat = [count, sizeOf(y.shape.slice(1))];
    const table = [y.shape[0]!, flat[1]!];
    const column = emit.node("Reshape", [ids!, emit.list([count, 1])]);
    const sums = emit.node(
      "ScatterElements",
      [
        emit.filled("float32", table, 0),
        emit.node("Expand", [column, emit.list(flat)]),
        emit.node("Reshape", [rows!, emit.list(flat)]),
      ],
      { axis: { int: 0 }, reduction: { text: "add" } },
    );
    return emit.node("Reshape", [sums, emit.list(y.shape)]);
  },
  wgsl: { kind: "addRows" },
  reference: (y, [ids, rows]) => {
    const width = sizeOf(y.shape.slice(1));
    const result = new Float64Array(sizeOf(y.shape));
    ids!.forEach((id, i) => {
      for (let d = 0; d < width; d++) result[id * width + d]! += rows![i * width + d]!;
    });
    return result;
  },
};

/**
 * Sum rows by id: the gradient of gatherRows. ScatterElements is exact and deterministic; ONNX Runtime's
 * ScatterND with reduction="add" loses updates if ids repeat (a data race), and a one-hot product takes
 * twice as long (14 against 6 ms for 6144 rows of 128 into 1000, 2 threads).
 * @param ids int32 in [0, count), any shape; repeated ids add.
 * @param rows shape [...ids, ...D].
 * @returns shape [count, ...D].
 */
export function addRows(ids: Tensor, rows: Tensor, count: number): Tensor {
  requireDType("addRows", "ids", ids, "int32");
  requireDType("addRows", "rows", rows, "float32");
  const lead = rows.shape.slice(0, ids.shape.length);
  if (!sameShape(lead, ids.shape)) {
    throw new TensorError("addRows", {
      got: `ids of shape ${show(ids.shape)} and rows of shape ${show(rows.shape)}`,
      expected: "rows whose leading axes are those of ids",
      fix: "Give one row for each id.",
    });
  }
  return node(operation, [ids, rows], null, [count, ...rows.shape.slice(ids.shape.length)]);
}
