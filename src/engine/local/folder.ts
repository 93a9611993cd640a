/** Files of model folders: their names, and JSON in them. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../common/files/files.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { DecoderConfig } from "./config.ts";
import type { Weights } from "./parameters.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

/** The model that a folder or a GGUF file holds. */
export interface ModelFolder {
  readonly config: DecoderConfig;
  readonly tokenizer: TokenizerFiles;
  readonly weights: Weights;
}

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
    fix: "Use an intact copy of its folder.",
  });
}

/** @param name of a file that every model's folder has. */
export function missing(folder: string, name: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where: join(folder, name),
    got: "no such file",
    expected: `${files.config}, ${files.weights}, ${files.tokenizer} and ${files.tokenizerConfig} of one model`,
    fix: `Copy ${name} there from where the model came from.`,
  });
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

export type JsonObject = Readonly<Record<string, unknown>>;

export async function readJson(folder: string, name: string): Promise<JsonObject> {
  const path = join(folder, name);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (e) {
    throw isMissing(e) ? missing(folder, name) : damaged(path, messageOf(e));
  }
  // checks only the outermost type, so that a vocabulary of 100,000 words is not copied
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw damaged(path, "no JSON object");
}

/** An object as the text of a file. */
export const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;
