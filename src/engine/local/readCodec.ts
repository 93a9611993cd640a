/** Reads the codec of a published model, from its folder or a GGUF file. */
import type { Codec } from "../../core/model.ts";
import { chatCodec } from "./codec.ts";
import { isGguf, readGgufCodec } from "./gguf/model.ts";
import { readTokenizer } from "./readTokenizer.ts";

/**
 * The tokenizer and chat template of a folder, with or without a model beside them.
 * @throws WhetstoneError `checkpoint.damaged`, `template.failed`.
 */
export async function readCodec(folder: string): Promise<Codec> {
  if (isGguf(folder)) return readGgufCodec(folder);
  return chatCodec(await readTokenizer(folder, {}, undefined, undefined));
}
