/** Weights in safetensors: one file, or shards with an index. */
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { WhetstoneError } from "../../core/errors.ts";
import type { DecoderConfig } from "./config.ts";
import { damaged, exists, files, missing, readJson } from "./folder.ts";
import { type Parameter, parametersOf, type Weights } from "./parameters.ts";
import { openSafetensors, type SafetensorsFile } from "./safetensors.ts";

/** The tensors of one file, or of all files that an index names. */
interface TensorSource extends AsyncDisposable {
  /** The file that holds a tensor; undefined if none does. */
  fileOf(name: string): SafetensorsFile | undefined;
  readonly names: readonly string[];
  /** The path that errors about missing tensors name. */
  readonly path: string;
}

const shards = z.object({ weight_map: z.record(z.string(), z.string()) });

export async function openTensors(folder: string, name: string, index?: string): Promise<TensorSource> {
  const path = join(folder, name);
  if (index === undefined || (await exists(path)) || !(await exists(join(folder, index)))) {
    if (!(await exists(path))) throw missing(folder, name);
    const file = await openSafetensors(path);
    return {
      path,
      names: [...file.shapes.keys()],
      fileOf: (tensor) => (file.shapes.has(tensor) ? file : undefined),
      [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
    };
  }
  const at = join(folder, index);
  const parsed = shards.safeParse(await readJson(folder, index));
  if (!parsed.success) throw damaged(at, "a malformed index");
  const places = new Map(Object.entries(parsed.data.weight_map));
  const open = new Map<string, SafetensorsFile>();
  const close = async (): Promise<void> => {
    for (const file of open.values()) await file[Symbol.asyncDispose]();
  };
  try {
    for (const shard of new Set(places.values())) {
      if (basename(shard) !== shard)
        throw damaged(at, `an index that names a file outside the folder: ${shard}`);
      open.set(shard, await openSafetensors(join(folder, shard)));
    }
    for (const [tensor, shard] of places) {
      if (!open.get(shard)?.shapes.has(tensor)) throw damaged(join(folder, shard), `no tensor ${tensor}`);
    }
  } catch (e) {
    await close();
    throw e;
  }
  return {
    path: at,
    names: [...new Set([...open.values()].flatMap((file) => [...file.shapes.keys()]))],
    fileOf: (tensor) =>
      open.get(places.get(tensor) ?? "") ?? [...open.values()].find((file) => file.shapes.has(tensor)),
    [Symbol.asyncDispose]: close,
  };
}

/** Rotary angles that older checkpoints store although they follow from the config. */
const harmless = (name: string): boolean => name.endsWith(".rotary_emb.inv_freq");
const outputLayer = "lm_head.weight";
const embeddings = "model.embed_tokens.weight";

/** Checks that every parameter is there in its shape, and no other tensor. @param isSpare names that are also allowed. */
export function requireParameters(
  source: TensorSource,
  parameters: readonly Parameter[],
  prefixes: readonly string[] = [""],
  isSpare: (name: string) => boolean = () => false,
): void {
  const wanted = new Set<string>();
  for (const prefix of prefixes) {
    for (const { name, shape } of parameters) {
      const tensor = prefix + name;
      wanted.add(tensor);
      const file = source.fileOf(tensor);
      if (!file) throw damaged(source.path, `no tensor ${tensor}`);
      const found = file.shapes.get(tensor) ?? [];
      if (found.join() === shape.join()) continue;
      throw damaged(file.path, `${tensor} of shape [${found.join(", ")}] instead of [${shape.join(", ")}]`);
    }
  }
  const extra = source.names.find((name) => !wanted.has(name) && !isSpare(name));
  if (extra === undefined) return;
  throw damaged(
    source.fileOf(extra)?.path ?? source.path,
    `the tensor ${extra}, which the model does not have`,
  );
}

export async function readValues(
  source: TensorSource,
  parameters: readonly Parameter[],
  prefix = "",
): Promise<Weights> {
  const out: Weights = new Map();
  for (const { name } of parameters) {
    const file = source.fileOf(prefix + name);
    if (file) out.set(name, await file.read(prefix + name));
  }
  return out;
}

/** Accepts a stored output layer that equals the embeddings; different values would be lost silently. */
async function requireTied(source: TensorSource, weights: Weights): Promise<void> {
  const file = source.fileOf(outputLayer);
  if (!file || isDeepStrictEqual(await file.read(outputLayer), weights.get(embeddings))) return;
  throw damaged(
    file.path,
    `${outputLayer} that differs from the embeddings, although tie_word_embeddings is true`,
  );
}

/**
 * Reads the weights of a folder, from one file or from shards. All names and shapes are checked before any value is read.
 * @throws WhetstoneError `checkpoint.damaged`; `model.unsupported` when the weights are not in safetensors.
 */
export async function readWeights(folder: string, config: DecoderConfig): Promise<Weights> {
  const path = join(folder, files.weights);
  if (!(await exists(path)) && (await exists(join(folder, "pytorch_model.bin")))) {
    throw new WhetstoneError("model.unsupported", {
      where: folder,
      got: "weights in pytorch_model.bin only",
      expected: `${files.weights}`,
      fix: "Save the model again with transformers, which writes safetensors.",
    });
  }
  await using source = await openTensors(folder, files.weights, files.weightIndex);
  const parameters = parametersOf(config);
  requireParameters(
    source,
    parameters,
    [""],
    (name) => harmless(name) || (config.tied && name === outputLayer),
  );
  const weights = await readValues(source, parameters);
  if (config.tied) await requireTied(source, weights);
  return weights;
}
