/** The tokenizer and chat template of a model folder. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isWhetstoneError, messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { chatCodec } from "./codec.ts";
import { companions, damaged, exists, files, type JsonObject, json, readJson } from "./folder.ts";
import { hasMarkers, type TokenizerFiles } from "./tokenizer.ts";

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
export function savedConfig(config: JsonObject): JsonObject {
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

/**
 * Checks that a tokenizer loads, and that the model has a row of embeddings for each of its tokens.
 * @param vocabulary rows of the embeddings, if known. @param place what errors about one of its parts name.
 * @throws WhetstoneError `checkpoint.damaged`, `template.failed`.
 */
export function requireTokenizer(
  read: TokenizerFiles,
  vocabulary: number | undefined,
  place: (part: string) => string,
): void {
  let found: number;
  try {
    found = chatCodec(read).vocabulary;
  } catch (e) {
    if (isWhetstoneError(e)) throw new WhetstoneError(e.code, { ...e.parts, where: place(e.parts.where) });
    throw damaged(place(files.tokenizer), messageOf(e));
  }
  // published models pad their embedding tables with rows that no token uses
  const fits = vocabulary === undefined || (hasMarkers(read) ? found === vocabulary : found <= vocabulary);
  if (fits) return;
  throw damaged(
    place(files.tokenizer),
    `a tokenizer that does not match: ${found} tokens where the model has ${vocabulary}`,
  );
}

export async function readTokenizer(
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
  requireTokenizer(read, vocabulary, (part) => join(folder, part));
  return read;
}
