import { TensorError } from "../error.ts";
import { node, type Operation, requireDType, type Tensor } from "../graph.ts";
import { elementType } from "../onnx.ts";
import { sameShape, show, sizeOf } from "../shape.ts";
import { gatherRows } from "./gather-rows.ts";

const operation: Operation<null> = {
  name: "addRows",
  gradient: ({ inputs: [ids] }, g) => [undefined, gatherRows(g, ids!)],
  onnx: (y, [ids, rows], emit) => {
    const [indices, updates] = y.inputs;
    const flat = sizeOf(indices!.shape);
    const wide = emit.node("Cast", [ids!], { to: { int: elementType("int64") } });
    return emit.node(
      "ScatterND",
      [
        emit.filled("float32", y.shape, 0),
        emit.node("Reshape", [wide, emit.list([flat, 1])]),
        emit.node("Reshape", [rows!, emit.list([flat, ...updates!.shape.slice(indices!.shape.length)])]),
      ],
      { reduction: { text: "add" } },
    );
  },
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
 * Add rows up by id: the gradient of gatherRows.
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
      expected: "rows that begin with the axes of ids",
      mend: "Give one row for each id.",
    });
  }
  return node(operation, [ids, rows], null, [count, ...rows.shape.slice(ids.shape.length)]);
}
