/** Models in GGUF files, the form of llama.cpp, with quantised weights as float32. */
import { WhetstoneError } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import type { Codec } from "../../../core/model.ts";
import { chatCodec } from "../codec.ts";
import type { DecoderConfig } from "../config.ts";
import { files, json, type ModelFolder } from "../folder.ts";
import { fromHuggingFace, toHuggingFace } from "../huggingFaceConfig.ts";
import { parametersOf, type Weights } from "../parameters.ts";
import { requireTokenizer, savedConfig } from "../readTokenizer.ts";
import type { TokenizerFiles } from "../tokenizer.ts";
import { ggufConfig } from "./config.ts";
import { damagedGguf, type GgufFile, openGguf } from "./file.ts";
import { ggufName, reorderHeads, ropeFactors, turnedHeads } from "./names.ts";
import { ggufTokenizer } from "./tokenizer.ts";

/** Whether a path names a GGUF file. */
export const isGguf = (path: string): boolean => /\.gguf$/i.test(path);

/** The weights by the names of `parametersOf`. All names and shapes are checked before any value is read. */
async function readWeights(file: GgufFile, config: DecoderConfig): Promise<Weights> {
  const parameters = parametersOf(config);
  const wanted = new Set([ropeFactors]);
  for (const { name, shape } of parameters) {
    const stored = ggufName(name);
    wanted.add(stored);
    const tensor = file.tensors.get(stored);
    if (!tensor) throw damagedGguf(file.path, `no tensor ${stored}`);
    if (tensor.shape.join() === shape.join()) continue;
    throw damagedGguf(
      file.path,
      `${stored} of shape [${tensor.shape.join(", ")}] instead of [${shape.join(", ")}]`,
    );
  }
  const extra = [...file.tensors.keys()].find((name) => !wanted.has(name));
  if (extra !== undefined) throw damagedGguf(file.path, `the tensor ${extra}, which the model does not have`);
  const weights: Weights = new Map();
  for (const { name, shape } of parameters) {
    const values = await file.read(ggufName(name));
    const heads = turnedHeads(config, name);
    weights.set(name, heads === undefined ? values : reorderHeads(values, heads, shape[0]!, "halves"));
  }
  return weights;
}

/** The tokenizer with the files that a saved checkpoint of the model gets. */
function readTokenizer(
  file: GgufFile,
  config: DecoderConfig | undefined,
  variables: Readonly<Record<string, Json>> | undefined,
): TokenizerFiles {
  const { tokenizer, config: tokenizerConfig } = ggufTokenizer(file);
  const { chat_template: template } = tokenizerConfig;
  if (typeof template !== "string") {
    throw new WhetstoneError("template.failed", {
      where: file.path,
      got: "no chat template",
      expected: "a model that was trained on conversations",
      fix: "Choose the instruction-tuned variant of the model.",
    });
  }
  const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(json(value));
  const id = (key: string): unknown => file.metadata[`tokenizer.ggml.${key}_token_id`] ?? null;
  const ends = { bos_token_id: id("bos"), eos_token_id: id("eos"), pad_token_id: id("padding") };
  const read: TokenizerFiles = {
    tokenizer,
    config: tokenizerConfig,
    template,
    ...(variables === undefined ? {} : { variables }),
    origin: {
      [files.config]: bytes(config ? savedConfig({ ...toHuggingFace(config), ...ends }) : {}),
      [files.tokenizer]: bytes(tokenizer),
      [files.tokenizerConfig]: bytes(tokenizerConfig),
    },
  };
  requireTokenizer(read, config?.vocabulary, (part) => `${file.path}, ${part}`);
  return read;
}

/**
 * Reads a model with its tokenizer and chat template.
 * @param variables passed to the chat template.
 * @throws WhetstoneError `checkpoint.damaged`, `model.unsupported`, `template.failed`.
 */
export async function readGguf(
  path: string,
  variables?: Readonly<Record<string, Json>>,
): Promise<ModelFolder> {
  await using file = await openGguf(path);
  // the same shape as a checkpoint of the run states later
  const config = fromHuggingFace(toHuggingFace(await ggufConfig(file)), path);
  const tokenizer = readTokenizer(file, config, variables);
  return { config, tokenizer, weights: await readWeights(file, config) };
}

/** The tokenizer and chat template of a file. @throws WhetstoneError as `readGguf`. */
export async function readGgufCodec(path: string): Promise<Codec> {
  await using file = await openGguf(path);
  return chatCodec(readTokenizer(file, undefined, undefined));
}
