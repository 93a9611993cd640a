/** Checkpoint folders: those of Hugging Face, and our own, which also hold the state that a resumed run needs. */
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { writeFlushed } from "../../common/files/files.ts";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Codec } from "../../core/model.ts";
import { chatCodec } from "./codec.ts";
import { type DecoderConfig, fromHuggingFace, toHuggingFace } from "./config.ts";
import {
  type Architecture,
  headParameters,
  type Parameter,
  parametersOf,
  trainedParameters,
  type Weights,
} from "./parameters.ts";
import { peftFiles, readPeft, writePeft } from "./peft.ts";
import type { ModelContents } from "./protocol.ts";
import { type NamedTensor, openSafetensors, type SafetensorsFile, writeSafetensors } from "./safetensors.ts";
import { hasMarkers, type TokenizerFiles } from "./tokenizer.ts";

const trainer = z.object({
  steps: z.int().nonnegative(),
  version: z.int().nonnegative(),
  /** Longest sequence that the run allows, if shorter than what the model allows. */
  contextTokens: z.int().positive().optional(),
  templateVariables: z.record(z.string(), z.json()).optional(),
  /** Names of value heads. Their weights are in a separate file. */
  heads: z.array(z.string()).optional(),
});

export const files = {
  config: "config.json",
  weights: "model.safetensors",
  weightIndex: "model.safetensors.index.json",
  tokenizer: "tokenizer.json",
  tokenizerConfig: "tokenizer_config.json",
  template: "chat_template.jinja",
  templateJson: "chat_template.json",
  heads: "heads.safetensors",
  optimiser: "optimiser.safetensors",
  trainer: "trainer.json",
} as const;

/** Files beside the weights that a folder of another tool may have. They are copied into checkpoints made from it. */
export const companions: readonly string[] = [
  files.config,
  "generation_config.json",
  files.tokenizer,
  files.tokenizerConfig,
  files.template,
  files.templateJson,
  "special_tokens_map.json",
  "added_tokens.json",
  "vocab.json",
  "merges.txt",
  "tokenizer.model",
];

export function damaged(where: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where,
    got,
    expected: "a whole checkpoint",
    fix: "Use an earlier checkpoint or the run's `best`, or download it again.",
  });
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

type JsonObject = Readonly<Record<string, unknown>>;

async function readJson(folder: string, name: string): Promise<JsonObject> {
  const path = join(folder, name);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (e) {
    throw damaged(path, messageOf(e));
  }
  // checks only the outermost type, so that a vocabulary of 100,000 words is not copied
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw damaged(path, "no JSON object");
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

/** The tensors of one file, or of all files that an index names. */
interface TensorSource extends AsyncDisposable {
  /** The file that holds a tensor; undefined if none does. */
  fileOf(name: string): SafetensorsFile | undefined;
  readonly names: readonly string[];
  /** The path that errors about missing tensors name. */
  readonly path: string;
}

const shards = z.object({ weight_map: z.record(z.string(), z.string()) });

async function openTensors(folder: string, name: string, index?: string): Promise<TensorSource> {
  const path = join(folder, name);
  if (index === undefined || (await exists(path)) || !(await exists(join(folder, index)))) {
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
function requireParameters(
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

async function readValues(
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

const namedTemplates = z.array(z.object({ name: z.string(), template: z.string() }));

/** A separate file takes precedence over a field of the config, as in transformers. */
async function readTemplate(folder: string, config: JsonObject): Promise<string | undefined> {
  if (await exists(join(folder, files.template))) return readFile(join(folder, files.template), "utf8");
  const found = (await exists(join(folder, files.templateJson)))
    ? (await readJson(folder, files.templateJson)).chat_template
    : config.chat_template;
  if (found === undefined || found === null) return undefined;
  if (typeof found === "string") return found;
  const several = namedTemplates.safeParse(found);
  const chosen = several.data?.find((t) => t.name === "default") ?? several.data?.[0];
  if (chosen) return chosen.template;
  throw damaged(join(folder, files.tokenizerConfig), "a chat_template that is not a string");
}

/** A config.json with the dtype that its weights are saved in; all other fields stay. */
function savedConfig(config: JsonObject): JsonObject {
  const { dtype: _, torch_dtype: __, ...rest } = config;
  return { ...rest, torch_dtype: "float32" };
}

async function readOrigin(folder: string, config: JsonObject): Promise<Record<string, Uint8Array>> {
  const origin: Record<string, Uint8Array> = {};
  for (const name of companions) {
    const path = join(folder, name);
    // copied: what is sent to another thread must not lie in a shared pool
    if (await exists(path)) origin[name] = new Uint8Array(await readFile(path));
  }
  return { ...origin, [files.config]: new TextEncoder().encode(json(savedConfig(config))) };
}

async function readTokenizer(
  folder: string,
  config: JsonObject,
  vocabulary: number | undefined,
  variables: Readonly<Record<string, Json>> | undefined,
): Promise<TokenizerFiles> {
  const both = {
    tokenizer: await readJson(folder, files.tokenizer),
    config: await readJson(folder, files.tokenizerConfig),
  };
  const own = hasMarkers(both);
  const template = own ? undefined : await readTemplate(folder, both.config);
  const read: TokenizerFiles = own
    ? both
    : {
        ...both,
        ...(template === undefined ? {} : { template }),
        ...(variables === undefined ? {} : { variables }),
        origin: await readOrigin(folder, config),
      };
  const path = join(folder, files.tokenizer);
  let found: number;
  try {
    found = chatCodec(read).vocabulary;
  } catch (e) {
    if (isWhetstoneError(e))
      throw new WhetstoneError(e.code, { ...e.parts, where: join(folder, e.parts.where) });
    throw damaged(path, messageOf(e));
  }
  // published models pad their embedding tables with rows that no token uses
  const fits = vocabulary === undefined || (own ? found === vocabulary : found <= vocabulary);
  if (!fits) {
    throw damaged(path, `a tokenizer that does not match: ${found} tokens where the model has ${vocabulary}`);
  }
  return read;
}

/**
 * The tokenizer and chat template of a folder, with or without a model beside them.
 * @throws WhetstoneError `checkpoint.damaged`, `template.failed`.
 */
export async function readCodec(folder: string): Promise<Codec> {
  return chatCodec(await readTokenizer(folder, {}, undefined, undefined));
}

/** The model that a folder holds. */
export interface ModelFolder {
  readonly config: DecoderConfig;
  readonly tokenizer: TokenizerFiles;
  readonly weights: Weights;
}

export interface Checkpoint {
  readonly architecture: Architecture;
  readonly tokenizer: TokenizerFiles;
  readonly contents: ModelContents;
}

/**
 * Reads a model without the state that a resumed run needs.
 * @param variables passed to the chat template.
 * @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`, `template.failed`.
 */
export async function readModel(
  folder: string,
  variables?: Readonly<Record<string, Json>>,
): Promise<ModelFolder> {
  const raw = await readJson(folder, files.config);
  const config = fromHuggingFace(raw, join(folder, files.config));
  const tokenizer = await readTokenizer(folder, raw, config.vocabulary, variables);
  return { config, tokenizer, weights: await readWeights(folder, config) };
}

/**
 * Reads a folder that `save` wrote, or one of another tool, which counts as a model with no steps taken.
 * @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`, `template.failed`.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const resumed =
    (await exists(join(folder, files.trainer))) || (await exists(join(folder, files.optimiser)));
  const counted = trainer.safeParse(
    resumed ? await readJson(folder, files.trainer) : { steps: 0, version: 0 },
  );
  if (!counted.success) throw damaged(join(folder, files.trainer), "other fields");
  const { steps, version, contextTokens, templateVariables, heads = [] } = counted.data;
  const { config: stated, tokenizer, weights } = await readModel(folder, templateVariables);
  const config = { ...stated, contextTokens: Math.min(contextTokens ?? Infinity, stated.contextTokens) };
  const adapted = (await exists(join(folder, peftFiles.config))) ? await readPeft(folder, config) : undefined;
  const architecture: Architecture = { config, heads, ...(adapted ? { adapter: adapted.adapter } : {}) };
  const all: Weights = new Map([
    ...weights,
    ...(adapted?.tensors ?? []),
    ...(await readHeads(folder, config, heads)),
  ]);
  if (steps === 0) return { architecture, tokenizer, contents: { weights: all, steps, version } };
  const trained = trainedParameters(architecture);
  await using moments = await openTensors(folder, files.optimiser);
  requireParameters(moments, trained, ["first.", "second."]);
  const first = await readValues(moments, trained, "first.");
  const second = await readValues(moments, trained, "second.");
  return { architecture, tokenizer, contents: { weights: all, first, second, steps, version } };
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
  const companionsOf: Readonly<Record<string, Uint8Array | string>> = tokenizer.origin ?? {
    [files.config]: json({ ...toHuggingFace(config), ...endsOf(tokenizer) }),
    [files.tokenizer]: json(tokenizer.tokenizer),
    [files.tokenizerConfig]: json(tokenizer.config),
  };
  for (const [name, data] of Object.entries(companionsOf)) await writeFlushed(join(folder, name), data);
  await writeSafetensors(join(folder, files.weights), tensorsOf(parametersOf(config), weights), type);
}

/**
 * Writes a folder that `readCheckpoint` and other tools read. An adapter is stored in PEFT's form, with its base beside it.
 * @throws WhetstoneError `disk.write`, `folder.unwritable`.
 */
export async function writeCheckpoint(
  folder: string,
  { architecture, tokenizer }: Omit<Checkpoint, "contents">,
  contents: ModelContents,
): Promise<void> {
  const { config, adapter, heads } = architecture;
  const { weights, first, second, steps, version } = contents;
  await writeModel(folder, { config, tokenizer, weights });
  if (adapter) await writePeft(folder, config, adapter, weights, ".");
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
    }),
  );
}
