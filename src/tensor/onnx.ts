// Writes ONNX messages field by field (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { DType, Shape } from "./shape.ts";

export type ElementType = DType | "int64";

export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly ints: readonly number[] }
  | { readonly text: string }
  | { readonly tensor: Data };

export interface Data {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: Shape;
  readonly data: readonly number[];
}

export interface Value {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: Shape;
}

export interface Node {
  readonly type: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface Graph {
  readonly nodes: readonly Node[];
  readonly constants: readonly Data[];
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  /** Name of a first output that is an empty list of tensors. */
  readonly emptyList: string;
}

/** Emits the ONNX form of an operation. Each call returns the names of its results. */
export interface Emit {
  /** One node with one result. @param domain "com.microsoft" for ONNX Runtime's own operators. */
  node(type: string, inputs: readonly string[], attributes?: Node["attributes"], domain?: string): string;
  /** One node with several results. */
  nodes(type: string, inputs: readonly string[], count: number, attributes?: Node["attributes"]): string[];
  constant(type: ElementType, shape: Shape, data: readonly number[]): string;
  /** A constant with the same number everywhere. */
  filled(type: DType, shape: Shape, value: number): string;
  /** An int64 list, for axes, shapes and sizes. */
  list(values: readonly number[]): string;
  /** See {@link CompileOptions} in compile.ts. */
  readonly rowTile: number | undefined;
}

const elementTypes: Record<ElementType, number> = { float32: 1, int32: 6, int64: 7, bool: 9 };
/** ONNX's number of an element type, for example for the operator Cast. */
export const elementType = (type: ElementType): number => elementTypes[type];

const opset = 23;
const irVersion = 10;

type Fields = (w: BinaryWriter) => void;

const message = (w: BinaryWriter, field: number, fields: Fields): void => {
  w.tag(field, WireType.LengthDelimited).fork();
  fields(w);
  w.join();
};
const text = (w: BinaryWriter, field: number, value: string): void => {
  w.tag(field, WireType.LengthDelimited).string(value);
};
const int = (w: BinaryWriter, field: number, value: number): void => {
  w.tag(field, WireType.Varint).int64(value);
};

function rawBytes(type: ElementType, data: readonly number[]): Uint8Array {
  switch (type) {
    case "float32":
      return new Uint8Array(Float32Array.from(data).buffer);
    case "int32":
      return new Uint8Array(Int32Array.from(data).buffer);
    case "int64":
      return new Uint8Array(BigInt64Array.from(data, BigInt).buffer);
    case "bool":
      return Uint8Array.from(data);
  }
}

const writeData =
  ({ name, type, shape, data }: Data): Fields =>
  (w) => {
    for (const n of shape) int(w, 1, n);
    int(w, 2, elementTypes[type]);
    text(w, 8, name);
    w.tag(9, WireType.LengthDelimited).bytes(rawBytes(type, data));
  };

const writeAttribute =
  (name: string, value: Attribute): Fields =>
  (w) => {
    text(w, 1, name);
    if ("float" in value) {
      w.tag(2, WireType.Bit32).float(value.float);
      int(w, 20, 1);
    } else if ("int" in value) {
      int(w, 3, value.int);
      int(w, 20, 2);
    } else if ("text" in value) {
      text(w, 4, value.text);
      int(w, 20, 3);
    } else if ("tensor" in value) {
      message(w, 5, writeData(value.tensor));
      int(w, 20, 4);
    } else {
      for (const n of value.ints) int(w, 8, n);
      int(w, 20, 7);
    }
  };

const writeNode =
  (node: Node, name: string): Fields =>
  (w) => {
    for (const x of node.inputs) text(w, 1, x);
    for (const x of node.outputs) text(w, 2, x);
    text(w, 3, name);
    text(w, 4, node.type);
    for (const [key, value] of Object.entries(node.attributes)) message(w, 5, writeAttribute(key, value));
    if (node.domain) text(w, 7, node.domain);
  };

const writeValue =
  ({ name, type, shape }: Value): Fields =>
  (w) => {
    text(w, 1, name);
    message(w, 2, (w) =>
      message(w, 1, (w) => {
        int(w, 1, elementTypes[type]);
        message(w, 2, (w) => {
          for (const n of shape) message(w, 1, (w) => int(w, 1, n));
        });
      }),
    );
  };

const writeEmptyList =
  (name: string): Fields =>
  (w) => {
    text(w, 1, name);
    message(w, 2, (type) =>
      message(type, 4, (sequence) =>
        message(sequence, 1, (element) =>
          message(element, 1, (tensor) => int(tensor, 1, elementTypes.float32)),
        ),
      ),
    );
  };

/** The bytes of an ONNX model. The same graph gives the same bytes. */
export function writeModel(graph: Graph): Uint8Array {
  const w = new BinaryWriter();
  int(w, 1, irVersion);
  text(w, 2, "whetstone");
  message(w, 7, (w) => {
    graph.nodes.forEach((n, i) => {
      message(w, 1, writeNode(n, `${n.type}_${i}`));
    });
    const nothing = {
      type: "SequenceEmpty",
      domain: "",
      inputs: [],
      outputs: [graph.emptyList],
      attributes: {},
    };
    message(w, 1, writeNode(nothing, graph.emptyList));
    text(w, 2, "graph");
    for (const c of graph.constants) message(w, 5, writeData(c));
    for (const v of graph.inputs) message(w, 11, writeValue(v));
    message(w, 12, writeEmptyList(graph.emptyList));
    for (const v of graph.outputs) message(w, 12, writeValue(v));
  });
  for (const [domain, version] of [
    ["", opset],
    ["com.microsoft", 1],
  ] as const) {
    message(w, 8, (w) => {
      text(w, 1, domain);
      int(w, 2, version);
    });
  }
  return w.finish();
}
