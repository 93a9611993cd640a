/** Encodes and decodes the messages of package `tinker_public` (proto3) by hand. */
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  bytes,
  damaged,
  double,
  dtypes,
  entry,
  fieldsOf,
  floatBytes,
  floatsIn,
  idBytes,
  idsIn,
  inner,
  int,
  ints,
  longBytes,
  longs,
  message,
  numbersIn,
  readEntry,
  repeated,
  tensorBytes,
  text,
} from "./protobufFields.ts";
import type {
  Chunk,
  Datum,
  ForwardBackwardOutput,
  Pass,
  SampledSequence,
  SampleResponse,
  Turn,
} from "./protocol.ts";
import { denseCells, sparseForm, type Tensor, tensorOf } from "./tensors.ts";

function readTensor(r: BinaryReader): Tensor {
  let dense: Uint8Array = new Uint8Array();
  let sparse: Record<"values" | "crow" | "col", Uint8Array> | undefined;
  let dtype = 0;
  const shape: number[] = [];
  inner(r, {
    1: () => void (dense = r.bytes()),
    2: () => {
      const read = { values: new Uint8Array(), crow: new Uint8Array(), col: new Uint8Array() };
      inner(r, {
        1: () => void (read.values = Uint8Array.from(r.bytes())),
        2: () => void (read.crow = Uint8Array.from(r.bytes())),
        3: () => void (read.col = Uint8Array.from(r.bytes())),
      });
      sparse = read;
    },
    3: () => void (dtype = r.int32()),
    4: (wire) => repeated(r, wire, () => shape.push(Number(r.int64()))),
  });
  const kind = dtype === dtypes.float32 || dtype === dtypes.bfloat16 ? "float32" : "int64";
  if (!sparse) return tensorOf(kind, numbersIn(dense, dtype), shape);
  const values = numbersIn(sparse.values, dtype);
  const cells = denseCells({ values, crow: longs(sparse.crow), col: longs(sparse.col), shape });
  if (typeof cells === "string") throw damaged(cells, sparseForm);
  return tensorOf(kind, cells, shape);
}

const noTensor: Tensor = { dtype: "float32", data: new Float32Array(), shape: [0] };

/** Maximum number of parts of one message: empty parts take two bytes each, but would fill the memory. */
const mostParts = 2 ** 20;

function readChunk(r: BinaryReader): Chunk {
  let chunk: Chunk = { type: "encoded_text", tokens: [] };
  const other = (type: "image" | "dmel") => () => {
    inner(r, {});
    chunk = { type };
  };
  inner(r, {
    1: () =>
      inner(r, {
        1: () => void (chunk = { type: "encoded_text", tokens: idsIn(r.bytes()) }),
      }),
    2: other("image"),
    3: other("dmel"),
  });
  return chunk;
}

/** @param part called for each of its parts. */
function readDatum(r: BinaryReader, part: () => void): Datum {
  part();
  const chunks: Chunk[] = [];
  const inputs: [string, Tensor][] = [];
  inner(r, {
    1: () => {
      part();
      chunks.push(readChunk(r));
    },
    2: () => {
      part();
      inputs.push(readEntry(r, () => readTensor(r), noTensor));
    },
  });
  return { model_input: { chunks }, loss_fn_inputs: Object.fromEntries(inputs) };
}

/** Message `ForwardBackwardRequest`. @throws WhetstoneError `import.invalid` for images and sound. */
export function writePass(pass: Pass): Uint8Array<ArrayBuffer> {
  const w = new BinaryWriter();
  text(w, 1, pass.model_id);
  int(w, 2, pass.seq_id ?? 0);
  for (const { model_input, loss_fn_inputs } of pass.data) {
    message(w, 3, () => {
      for (const chunk of model_input.chunks) {
        if (chunk.type !== "encoded_text") throw damaged(`a chunk of ${chunk.type}`, "text alone");
        message(w, 1, () => message(w, 1, () => bytes(w, 1, idBytes(chunk.tokens))));
      }
      for (const [key, tensor] of Object.entries(loss_fn_inputs)) {
        entry(w, 2, key, () =>
          message(w, 2, () => {
            bytes(w, 1, tensorBytes(tensor));
            int(w, 3, dtypes[tensor.dtype]);
            ints(w, 4, tensor.shape);
          }),
        );
      }
    });
  }
  text(w, 4, pass.loss_fn);
  for (const [key, value] of Object.entries(pass.loss_fn_config)) {
    if (typeof value === "number") entry(w, 5, key, () => double(w, 2, value));
    else entry(w, 7, key, () => message(w, 2, () => text(w, 2, value)));
  }
  int(w, 6, pass.forward_only ? 1 : 0);
  return w.finish();
}

/** Message `ForwardBackwardRequest`. */
export function readPass(body: Uint8Array): Pass {
  const r = new BinaryReader(body);
  let model_id = "";
  let seq_id = 0;
  let loss_fn = "";
  let forward_only = false;
  const data: Datum[] = [];
  const config: [string, number | string][] = [];
  let parts = 0;
  const part = (): void => {
    if (++parts > mostParts) throw damaged(`more than ${mostParts} parts`, "fewer datums at a time");
  };
  fieldsOf(r, {
    1: () => void (model_id = r.string()),
    2: () => void (seq_id = r.int32()),
    3: () => void data.push(readDatum(r, part)),
    4: () => void (loss_fn = r.string()),
    5: () => {
      part();
      config.push(readEntry(r, () => r.double(), 0));
    },
    6: () => void (forward_only = r.bool()),
    7: () => {
      part();
      config.push(readEntry<number | string>(r, () => readSetting(r), 0));
    },
  });
  const loss_fn_config = Object.fromEntries(config);
  return { model_id, ...(seq_id > 0 && { seq_id }), data, loss_fn, loss_fn_config, forward_only };
}

/** Model id and sequence number of a `ForwardBackwardRequest`, even if the rest is damaged; undefined if they are. */
export function readTurn(body: Uint8Array): Turn | undefined {
  const r = new BinaryReader(body);
  const turn = { model_id: "", seq_id: 0 };
  try {
    fieldsOf(r, { 1: () => void (turn.model_id = r.string()), 2: () => void (turn.seq_id = r.int32()) });
  } catch {
    return turn.seq_id > 0 ? turn : undefined;
  }
  return turn;
}

function readSetting(r: BinaryReader): number | string {
  let value: number | string = 0;
  inner(r, { 1: () => void (value = r.double()), 2: () => void (value = r.string()) });
  return value;
}

/** Message `ForwardBackwardOutput`: records whose fields each hold all datums, cut by offsets. */
export function writeOutput(output: ForwardBackwardOutput): Uint8Array<ArrayBuffer> {
  const w = new BinaryWriter();
  text(w, 1, output.loss_fn_output_type);
  for (const datums of alike(output.loss_fn_outputs)) {
    const names = new Set(datums.flatMap((one) => Object.keys(one)));
    message(w, 2, () => {
      for (const key of names) {
        const parts = datums.map((one) => one[key] ?? noTensor);
        const data = parts.map(tensorBytes);
        const offsets = [0];
        for (const part of data) offsets.push(offsets.at(-1)! + part.length);
        entry(w, 2, key, () =>
          message(w, 2, () => {
            bytes(w, 1, Buffer.concat(data));
            bytes(w, 2, longBytes(offsets));
            int(w, 3, dtypes[parts[0]?.dtype ?? "float32"]);
            ints(w, 4, parts[0]?.shape.slice(1) ?? []);
          }),
        );
      }
      int(w, 3, datums.length);
    });
  }
  for (const [key, value] of Object.entries(output.metrics)) entry(w, 3, key, () => double(w, 2, value));
  return w.finish();
}

/** Runs of datums whose tensors differ only in their first axis, which one record can hold. */
function alike(datums: ForwardBackwardOutput["loss_fn_outputs"]): ForwardBackwardOutput["loss_fn_outputs"][] {
  const runs: ForwardBackwardOutput["loss_fn_outputs"][] = [];
  let last: string | undefined;
  for (const datum of datums) {
    const shape = Object.values(datum)
      .map((tensor) => tensor.shape.slice(1).join())
      .join(";");
    if (shape === last) runs.at(-1)?.push(datum);
    else runs.push([datum]);
    last = shape;
  }
  return runs;
}

/** Message `ForwardBackwardOutput`. */
export function readOutput(body: Uint8Array): ForwardBackwardOutput {
  const r = new BinaryReader(body);
  let loss_fn_output_type = "";
  const loss_fn_outputs: Record<string, Tensor>[] = [];
  const metrics: [string, number][] = [];
  fieldsOf(r, {
    1: () => void (loss_fn_output_type = r.string()),
    2: () => void loss_fn_outputs.push(...readRecord(r)),
    3: () => void metrics.push(readEntry(r, () => r.double(), 0)),
  });
  return { loss_fn_output_type, loss_fn_outputs, metrics: Object.fromEntries(metrics) };
}

/** The datums of an `ArrayRecord`. */
function readRecord(r: BinaryReader): Record<string, Tensor>[] {
  let datums = 0;
  const fields: [string, Tensor[]][] = [];
  inner(r, {
    2: () => void fields.push(readEntry(r, () => readBatched(r), [])),
    3: () => void (datums = Number(r.int64())),
  });
  return Array.from({ length: datums }, (_, d) =>
    Object.fromEntries(fields.flatMap(([key, parts]) => (parts[d] ? [[key, parts[d]]] : []))),
  );
}

/** The tensor of each datum in a `BatchedTensor`. */
function readBatched(r: BinaryReader): Tensor[] {
  let data: Uint8Array = new Uint8Array();
  let offsets: number[] = [];
  let dtype = 0;
  const trailing: number[] = [];
  inner(r, {
    1: () => void (data = r.bytes()),
    2: () => void (offsets = longs(r.bytes())),
    3: () => void (dtype = r.int32()),
    4: (wire) => repeated(r, wire, () => trailing.push(Number(r.int64()))),
  });
  const kind = dtype === dtypes.float32 || dtype === dtypes.bfloat16 ? "float32" : "int64";
  const each = trailing.reduce((a, b) => a * b, 1);
  return offsets.slice(0, -1).map((from, d) => {
    const cells = numbersIn(data.subarray(from, offsets[d + 1]), dtype);
    return tensorOf(kind, cells, trailing.length > 0 ? [cells.length / each, ...trailing] : []);
  });
}

const stopReasons = ["stop", "length"] as const;

/** Message `SampleResponse`. */
export function writeSamples({
  sequences,
  prompt_logprobs,
  topk_prompt_logprobs,
}: SampleResponse): Uint8Array<ArrayBuffer> {
  const w = new BinaryWriter();
  for (const { stop_reason, tokens, logprobs } of sequences) {
    message(w, 1, () => {
      int(w, 1, stopReasons.indexOf(stop_reason));
      bytes(w, 2, idBytes(tokens));
      if (logprobs) bytes(w, 3, floatBytes(logprobs));
    });
  }
  if (prompt_logprobs) bytes(w, 2, floatBytes(prompt_logprobs));
  if (topk_prompt_logprobs) {
    const k = Math.max(0, ...topk_prompt_logprobs.map((cells) => cells?.length ?? 0));
    const all = topk_prompt_logprobs.flatMap((cells) =>
      Array.from({ length: k }, (_, j) => cells?.[j] ?? noCell),
    );
    message(w, 3, () => {
      bytes(w, 1, idBytes(all.map(([id]) => id)));
      bytes(w, 2, floatBytes(all.map(([, logp]) => logp)));
      int(w, 3, k);
      int(w, 4, topk_prompt_logprobs.length);
    });
  }
  return w.finish();
}

/** Fills empty cells of the top-k matrix. */
const noCell = [0, -99999] as const;

/** Message `SampleResponse`. */
export function readSamples(body: Uint8Array): SampleResponse {
  const r = new BinaryReader(body);
  const sequences: SampledSequence[] = [];
  let prompt: Float32Array<ArrayBuffer> | undefined;
  let topk: SampleResponse["topk_prompt_logprobs"];
  fieldsOf(r, {
    1: () => {
      let stop = 0;
      let tokens = new Int32Array();
      let logprobs: Float32Array<ArrayBuffer> | undefined;
      inner(r, {
        1: () => void (stop = r.int32()),
        2: () => void (tokens = idsIn(r.bytes())),
        3: () => void (logprobs = floatsIn(r.bytes())),
      });
      const stop_reason = stopReasons[stop];
      if (stop_reason === undefined) throw damaged(`stop reason ${stop}`, "0 (stop) or 1 (length)");
      sequences.push({ stop_reason, tokens, ...(logprobs && { logprobs }) });
    },
    2: () => void (prompt = floatsIn(r.bytes())),
    3: () => {
      let tokenIds = new Int32Array();
      let logp = new Float32Array();
      let k = 0;
      let length = 0;
      inner(r, {
        1: () => void (tokenIds = idsIn(r.bytes())),
        2: () => void (logp = floatsIn(r.bytes())),
        3: () => void (k = r.uint32()),
        4: () => void (length = r.uint32()),
      });
      topk = Array.from({ length }, (_, i) => {
        const cells = Array.from({ length: k }, (_, j): [number, number] => [
          tokenIds[i * k + j] ?? noCell[0],
          logp[i * k + j] ?? noCell[1],
        ]).filter(([, x]) => x !== noCell[1]);
        return cells.length > 0 ? cells : null;
      });
    },
  });
  return {
    sequences,
    ...(prompt && { prompt_logprobs: prompt }),
    ...(topk && { topk_prompt_logprobs: topk }),
  };
}
