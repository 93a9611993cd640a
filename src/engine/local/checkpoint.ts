/** Checkpoint folders: config, weights, tokenizer, and what a resumed run needs besides. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { writeFlushed } from "../../core/files.ts";
import { chatCodec } from "./codec.ts";
import { type DecoderConfig, fromHuggingFace, toHuggingFace } from "./config.ts";
import { parametersOf, type Weights } from "./parameters.ts";
import type { ModelContents } from "./protocol.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

const counters = z.object({ steps: z.int().nonnegative(), version: z.int().nonnegative() });

export const files = {
  config: "config.json",
  weights: "model.safetensors",
  tokenizer: "tokenizer.json",
  tokenizerConfig: "tokenizer_config.json",
  optimiser: "optimiser.safetensors",
  trainer: "trainer.json",
} as const;

export function damaged(where: string, got: string): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where,
    got,
    expected: "a whole checkpoint",
    mend: "Use an earlier checkpoint, or the run's `best`.",
  });
}

async function readJson(folder: string, name: string): Promise<unknown> {
  const path = join(folder, name);
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (e) {
    throw damaged(path, messageOf(e));
  }
}

async function readTensors(
  folder: string,
  name: string,
  config: DecoderConfig,
  prefix = "",
): Promise<Weights> {
  const path = join(folder, name);
  const bytes = await readFile(path).catch((e: unknown) => {
    throw damaged(path, messageOf(e));
  });
  const found = readSafetensors(bytes, path);
  return new Map(
    parametersOf(config).map(({ name: parameter, shape }) => {
      const tensor = found.get(prefix + parameter);
      if (!tensor) throw damaged(path, `no tensor ${prefix}${parameter}`);
      if (tensor.shape.join() !== shape.join()) {
        throw damaged(
          path,
          `${prefix}${parameter} of shape [${tensor.shape.join(", ")}] where [${shape.join(", ")}] belongs`,
        );
      }
      const bad = tensor.data.findIndex((x) => !Number.isFinite(x));
      if (bad >= 0) throw damaged(path, `${prefix}${parameter}[${bad}] = ${tensor.data[bad]}`);
      return [parameter, tensor.data];
    }),
  );
}

const tensorsOf = (config: DecoderConfig, weights: Weights, prefix = "") =>
  parametersOf(config).map((p) => ({ name: prefix + p.name, shape: p.shape, data: weights.get(p.name)! }));

async function readTokenizer(folder: string, vocabulary: number): Promise<TokenizerFiles> {
  const read = async (name: string): Promise<Readonly<Record<string, unknown>>> => {
    const parsed = z.record(z.string(), z.unknown()).safeParse(await readJson(folder, name));
    if (!parsed.success) throw damaged(join(folder, name), "no JSON object");
    return parsed.data;
  };
  const tokenizer = { tokenizer: await read(files.tokenizer), config: await read(files.tokenizerConfig) };
  const path = join(folder, files.tokenizer);
  let found: number;
  try {
    found = chatCodec(tokenizer).vocabulary;
  } catch (e) {
    throw damaged(path, messageOf(e));
  }
  if (found !== vocabulary) throw damaged(path, `${found} tokens where the model has ${vocabulary}`);
  return tokenizer;
}

/** Reads what `save` wrote. @throws WhetstoneError `checkpoint.damaged`. */
export async function readCheckpoint(
  folder: string,
): Promise<{ config: DecoderConfig; tokenizer: TokenizerFiles; contents: ModelContents }> {
  const config = fromHuggingFace(await readJson(folder, files.config), join(folder, files.config));
  const tokenizer = await readTokenizer(folder, config.vocabulary);
  const weights = await readTensors(folder, files.weights, config);
  const counted = counters.safeParse(await readJson(folder, files.trainer));
  if (!counted.success) throw damaged(join(folder, files.trainer), "other fields");
  if (counted.data.steps === 0) return { config, tokenizer, contents: { weights, ...counted.data } };
  const first = await readTensors(folder, files.optimiser, config, "first.");
  const second = await readTensors(folder, files.optimiser, config, "second.");
  return { config, tokenizer, contents: { weights, first, second, ...counted.data } };
}

export async function writeCheckpoint(
  folder: string,
  { config, tokenizer }: { readonly config: DecoderConfig; readonly tokenizer: TokenizerFiles },
  contents: ModelContents,
): Promise<void> {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;
  await writeFlushed(join(folder, files.config), json(toHuggingFace(config)));
  await writeFlushed(join(folder, files.tokenizer), json(tokenizer.tokenizer));
  await writeFlushed(join(folder, files.tokenizerConfig), json(tokenizer.config));
  await writeFlushed(join(folder, files.weights), writeSafetensors(tensorsOf(config, contents.weights)));
  if (contents.first && contents.second) {
    await writeFlushed(
      join(folder, files.optimiser),
      writeSafetensors([
        ...tensorsOf(config, contents.first, "first."),
        ...tensorsOf(config, contents.second, "second."),
      ]),
    );
  }
  await writeFlushed(join(folder, files.trainer), json({ steps: contents.steps, version: contents.version }));
}
