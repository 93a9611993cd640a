/** Checkpoint folders: those of Hugging Face, and our own, which also hold the state that a resumed run needs. */
import { join } from "node:path";
import { z } from "zod";
import { equal } from "../../common/equal.ts";
import { writeFlushed } from "../../common/files/files.ts";
import type { Json } from "../../core/json.ts";
import { type BaseModel, baseShape, readBase } from "./base.ts";
import { chatCodec } from "./codec.ts";
import type { DecoderConfig } from "./config.ts";
import { damaged, exists, files, json, type ModelFolder, readJson } from "./folder.ts";
import { isGguf, readGguf } from "./gguf/model.ts";
import { fromHuggingFace, toHuggingFace } from "./huggingFaceConfig.ts";
import {
  type Architecture,
  adapterParameters,
  headParameters,
  type Parameter,
  parametersOf,
  trainedParameters,
  type Weights,
} from "./parameters.ts";
import { mergeAdapter, peftFiles, readPeft, writePeft } from "./peft.ts";
import type { ModelContents } from "./protocol.ts";
import { readTokenizer } from "./readTokenizer.ts";
import { type NamedTensor, writeSafetensors } from "./safetensors.ts";
import { openTensors, readValues, readWeights, requireParameters } from "./tensorSource.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

const trainer = z.object({
  steps: z.int().nonnegative(),
  version: z.int().nonnegative(),
  /** Longest sequence that the run allows, if shorter than what the model allows. */
  contextTokens: z.int().positive().optional(),
  templateVariables: z.record(z.string(), z.json()).optional(),
  /** Names of value heads. Their weights are in a separate file. */
  heads: z.array(z.string()).optional(),
  /** Of an adapter: the model that it was trained on, unless that lies beside it. */
  base: baseShape.optional(),
});

export interface Checkpoint {
  readonly architecture: Architecture;
  readonly tokenizer: TokenizerFiles;
  readonly contents: ModelContents;
  readonly base?: BaseModel;
}

/**
 * Reads a model without the state that a resumed run needs: with its adapter merged in, and for as long sequences as the
 * model allows, whatever a run allowed.
 * @param folder a folder in Hugging Face's form, or a GGUF file. @param variables passed to the chat template.
 * @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`, `template.failed`.
 */
export async function readModel(
  folder: string,
  variables?: Readonly<Record<string, Json>>,
): Promise<ModelFolder> {
  if (isGguf(folder)) return readGguf(folder, variables);
  const { base } = await readState(folder);
  const { config, tokenizer, weights } = await readFolder(folder, base, variables);
  if (!(await exists(join(folder, peftFiles.config)))) return { config, tokenizer, weights };
  const { adapter, tensors } = await readPeft(folder, config);
  return { config, tokenizer, weights: mergeAdapter(weights, adapter, tensors) };
}

/** A folder's model; of an adapter that says where its base is, the base. */
async function readFolder(
  folder: string,
  base: BaseModel | undefined,
  variables: Readonly<Record<string, Json>> | undefined,
): Promise<ModelFolder> {
  const raw = await readJson(folder, files.config);
  const config = fromHuggingFace(raw, join(folder, files.config));
  const tokenizer = await readTokenizer(folder, raw, config.vocabulary, variables);
  const weights = base
    ? await readBase(folder, base, config, mergedIn(config))
    : await readWeights(folder, config);
  return { config, tokenizer, weights };
}

/** Most adapters on one another; a base that leads back to itself has more. */
const highest = 16;

/** Reads weights of this shape, with the adapter beside them merged in, which may have such weights as its base. */
const mergedIn =
  (config: DecoderConfig, above = 1) =>
  async (folder: string): Promise<Weights> => {
    if (isGguf(folder)) return (await readGguf(folder)).weights;
    if (above > highest) throw damaged(folder, `more than ${highest} adapters on one another`);
    const { base } = await readState(folder);
    const weights = base
      ? await readBase(folder, base, config, mergedIn(config, above + 1))
      : await readWeights(folder, config);
    if (!(await exists(join(folder, peftFiles.config)))) return weights;
    const { adapter, tensors } = await readPeft(folder, config);
    return mergeAdapter(weights, adapter, tensors);
  };

async function readState(folder: string): Promise<z.infer<typeof trainer>> {
  const resumed =
    (await exists(join(folder, files.trainer))) || (await exists(join(folder, files.optimiser)));
  const counted = trainer.safeParse(
    resumed ? await readJson(folder, files.trainer) : { steps: 0, version: 0 },
  );
  if (counted.success) return counted.data;
  throw damaged(join(folder, files.trainer), "other fields");
}

/**
 * Reads a folder that `save` wrote, or one of another tool, which counts as a model with no steps taken.
 * @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`, `template.failed`.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  if (isGguf(folder)) {
    const { config, tokenizer, weights } = await readGguf(folder);
    return { architecture: { config, heads: [] }, tokenizer, contents: { weights, steps: 0, version: 0 } };
  }
  const { steps, version, contextTokens, templateVariables, heads = [], base } = await readState(folder);
  const { config: stated, tokenizer, weights } = await readFolder(folder, base, templateVariables);
  const config = { ...stated, contextTokens: Math.min(contextTokens ?? Infinity, stated.contextTokens) };
  const adapted = (await exists(join(folder, peftFiles.config))) ? await readPeft(folder, config) : undefined;
  const architecture: Architecture = { config, heads, ...(adapted ? { adapter: adapted.adapter } : {}) };
  const all: Weights = new Map([
    ...weights,
    ...(adapted?.tensors ?? []),
    ...(await readHeads(folder, config, heads)),
  ]);
  const rest = { architecture, tokenizer, ...(base && { base }) };
  if (steps === 0) return { ...rest, contents: { weights: all, steps, version } };
  const trained = trainedParameters(architecture);
  await using moments = await openTensors(folder, files.optimiser);
  requireParameters(moments, trained, ["first.", "second."]);
  const first = await readValues(moments, trained, "first.");
  const second = await readValues(moments, trained, "second.");
  return { ...rest, contents: { weights: all, first, second, steps, version } };
}

/** The same model with its adapter merged in, to be sampled: it agrees up to rounding, and has no state of an optimiser. */
export function withoutAdapter(read: Checkpoint): Checkpoint {
  const { adapter, ...architecture } = read.architecture;
  const { weights, version } = read.contents;
  if (!adapter) return { ...read, contents: { weights, steps: 0, version } };
  const merged = mergeAdapter(weights, adapter, weights);
  for (const { name } of adapterParameters(architecture.config, adapter)) merged.delete(name);
  return { architecture, tokenizer: read.tokenizer, contents: { weights: merged, steps: 0, version } };
}

/** A checkpoint of a model with the same shape and words. @throws WhetstoneError `checkpoint.damaged` for another. */
export async function readCheckpointLike(
  folder: string,
  architecture: Architecture,
  tokenizer: TokenizerFiles,
): Promise<Checkpoint> {
  const read = await readCheckpoint(folder);
  if (!equal(read.architecture, architecture)) throw damaged(folder, "a model of another shape");
  if (!equal(read.tokenizer, tokenizer)) {
    throw damaged(join(folder, files.tokenizer), "the words of another model");
  }
  return read;
}

async function readHeads(folder: string, config: DecoderConfig, heads: readonly string[]): Promise<Weights> {
  if (heads.length === 0) return new Map();
  const parameters = headParameters(config, heads);
  await using source = await openTensors(folder, files.heads);
  requireParameters(source, parameters);
  return await readValues(source, parameters); // before the file is closed
}

const tensorsOf = (parameters: readonly Parameter[], weights: Weights, prefix = ""): NamedTensor[] =>
  parameters.map((p) => ({ name: prefix + p.name, shape: p.shape, data: weights.get(p.name)! }));

/** Without these fields, other tools use the token ids of each family's first model. */
function endsOf(tokenizer: TokenizerFiles): Readonly<Record<string, number | null>> {
  const { endId, padId } = chatCodec(tokenizer);
  return { bos_token_id: null, eos_token_id: endId, pad_token_id: padId };
}

/**
 * Writes a model without the state that a resumed run needs: a folder that other tools can read.
 * @throws WhetstoneError `disk.write`, `folder.unwritable`.
 */
export async function writeModel(
  folder: string,
  { config, tokenizer, weights }: ModelFolder,
  type: "F32" | "BF16" = "F32",
): Promise<void> {
  await writeCompanions(folder, { config, tokenizer });
  await writeSafetensors(join(folder, files.weights), tensorsOf(parametersOf(config), weights), type);
}

async function writeCompanions(
  folder: string,
  { config, tokenizer }: Omit<ModelFolder, "weights">,
): Promise<void> {
  const companionsOf: Readonly<Record<string, Uint8Array | string>> = tokenizer.origin ?? {
    [files.config]: json({ ...toHuggingFace(config), ...endsOf(tokenizer) }),
    [files.tokenizer]: json(tokenizer.tokenizer),
    [files.tokenizerConfig]: json(tokenizer.config),
  };
  for (const [name, data] of Object.entries(companionsOf)) await writeFlushed(join(folder, name), data);
}

/**
 * Writes a folder that `readCheckpoint` and other tools read. An adapter is stored in PEFT's form: with the place of its
 * base, or with its base beside it where that is nowhere else.
 * @throws WhetstoneError `disk.write`, `folder.unwritable`.
 */
export async function writeCheckpoint(
  folder: string,
  { architecture, tokenizer, base }: Omit<Checkpoint, "contents">,
  contents: ModelContents,
): Promise<void> {
  const { config, adapter, heads } = architecture;
  const { weights, first, second, steps, version } = contents;
  if (base) await writeCompanions(folder, { config, tokenizer });
  else await writeModel(folder, { config, tokenizer, weights });
  if (adapter) await writePeft(folder, config, adapter, weights, base ? (base.id ?? base.path) : ".");
  if (heads.length > 0) {
    await writeSafetensors(join(folder, files.heads), tensorsOf(headParameters(config, heads), weights));
  }
  if (first && second) {
    const trained = trainedParameters(architecture);
    await writeSafetensors(join(folder, files.optimiser), [
      ...tensorsOf(trained, first, "first."),
      ...tensorsOf(trained, second, "second."),
    ]);
  }
  const { origin, variables } = tokenizer;
  await writeFlushed(
    join(folder, files.trainer),
    json({
      steps,
      version,
      // keeps what the model itself allows, as the config.json of another tool states it
      ...(origin ? { contextTokens: config.contextTokens } : {}),
      ...(variables ? { templateVariables: variables } : {}),
      ...(heads.length > 0 ? { heads } : {}),
      ...(base && { base }),
    }),
  );
}
