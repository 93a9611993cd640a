/** Exports trained weights for other tools. */
import { join, resolve } from "node:path";
import { WhetstoneError } from "../../core/errors.ts";
import { readCheckpoint, readModel, writeModel } from "./checkpoint.ts";
import { exists, type ModelFolder } from "./folder.ts";
import { type PackedType, writeGguf } from "./gguf/write.ts";
import { mergeAdapter, peftFiles, readPeft, writePeft } from "./peft.ts";

export { type PackedType, packedTypes } from "./gguf/write.ts";

/** The folder of an adapter in PEFT's form, and that of its base model. */
export interface AdapterOf {
  readonly adapter: string;
  readonly base: string;
}

/** The model of another tool's adapter. */
async function readAdapted({ adapter: from, base }: AdapterOf) {
  const model = await readModel(base);
  return { ...model, ...(await readPeft(from, model.config)) };
}

/** @param from a checkpoint folder, or an adapter of another tool. */
async function readAdapter(from: string | AdapterOf) {
  if (typeof from === "string") {
    const { architecture, contents, base } = await readCheckpoint(from);
    const at = base?.path ?? resolve(from);
    return { ...architecture, tensors: contents.weights, base: { at, name: base?.id ?? at } };
  }
  const at = resolve(from.base);
  return { ...(await readAdapted(from)), base: { at, name: at } };
}

/** @param from a checkpoint folder, or an adapter of another tool. */
async function readMerged(from: string | AdapterOf): Promise<ModelFolder> {
  if (typeof from === "string") return await readModel(from);
  const { config, tokenizer, weights, adapter, tensors } = await readAdapted(from);
  return { config, tokenizer, weights: mergeAdapter(weights, adapter, tensors) };
}

/**
 * Writes the adapter of a checkpoint for PEFT, and for servers that load PEFT adapters. An adapter of another tool is
 * validated, and its targets are written into the config.
 * @param to an existing folder. @param stated the base model that the adapter's config names: a folder or a Hub id. Default: the Hub id or the
 * absolute path of the one that it was trained on, which is the checkpoint itself where the base lies beside the adapter.
 * @throws WhetstoneError `checkpoint.damaged`; `capability.missing` when the model was trained without an adapter, or on another adapter.
 */
export async function exportAdapter(from: string | AdapterOf, to: string, stated?: string): Promise<void> {
  const where = typeof from === "string" ? from : from.adapter;
  const { config, adapter, tensors, base } = await readAdapter(from);
  if (!adapter) {
    throw new WhetstoneError("capability.missing", {
      where,
      got: "a model without an adapter: all of its weights were trained",
      expected: "a model made with `lora`",
      fix: "Export the weights as safetensors instead.",
    });
  }
  // other tools would load another adapter's base without that adapter
  const isOnAdapter = base.at !== resolve(where) && (await exists(join(base.at, peftFiles.config)));
  if (isOnAdapter && stated === undefined) {
    throw new WhetstoneError("capability.missing", {
      where,
      got: `an adapter that was trained on ${base.at}, which is an adapter itself`,
      expected: "an adapter on whole weights",
      fix: `Export the whole model, --to safetensors or gguf. Or export ${base.at} --to safetensors, and name that folder with --base.`,
    });
  }
  await writePeft(to, config, adapter, tensors, stated ?? base.name);
}

/**
 * Writes a model with its adapter merged in: a plain Hugging Face folder.
 * @param to an existing folder. @param type dtype of the values on disk.
 * @throws WhetstoneError `checkpoint.damaged`, `disk.write`.
 */
export async function exportWeights(
  from: string | AdapterOf,
  to: string,
  type: "F32" | "BF16" = "F32",
): Promise<void> {
  await writeModel(to, await readMerged(from), type);
}

/**
 * Writes a model with its adapter merged in as one GGUF file, for llama.cpp, Ollama and LM Studio.
 * @param to a new file. @param type of the matrices. @param name what the file calls the model.
 * @throws WhetstoneError `checkpoint.damaged`, `disk.write`; `model.unsupported` when the form has no way to say it.
 */
export async function exportGguf(
  from: string | AdapterOf,
  to: string,
  type: PackedType,
  name: string,
): Promise<void> {
  await writeGguf(to, await readMerged(from), type, name);
}
