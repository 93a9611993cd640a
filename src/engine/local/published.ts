/** Models that begin from a checkpoint: a folder, or a model on the Hugging Face Hub. */
import { readdir, stat } from "node:fs/promises";
import { WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { type ModelFolder, readModel } from "./checkpoint.ts";
import { isGguf, noGguf } from "./gguf.ts";
import { type FetchOptions, fetchModel, isHubId } from "./hub.ts";

export interface PublishedOptions {
  /** A folder, or an id on the Hub as `owner/name`. A folder of that name goes first. */
  readonly from: string;
  /** How it is fetched from the Hub. */
  readonly hub?: FetchOptions;
  /** What its chat template may ask for besides the messages, e.g. `{ enable_thinking: false }`. */
  readonly templateVariables?: Readonly<Record<string, Json>>;
}

/**
 * Where the model lies, fetched if need be.
 * @throws WhetstoneError `checkpoint.missing`, `model.unsupported`; and those of `fetchModel`.
 */
export async function folderOf({ from, hub }: PublishedOptions): Promise<string> {
  const there = await stat(from).catch(() => undefined);
  if (there?.isDirectory()) return await modelFolder(from);
  if (there === undefined && isHubId(from) && !isGguf(from)) return fetchModel(from, hub);
  if (isGguf(from)) throw noGguf("localEngine from", from);
  throw new WhetstoneError("checkpoint.missing", {
    where: "localEngine from",
    got: `${JSON.stringify(from)}, which is ${there ? "a file" : "no folder"}`,
    expected: "a checkpoint's folder, or the id of a model on the Hugging Face Hub",
    mend: there ? "Name the folder that the file lies in." : "Check the path.",
  });
}

async function modelFolder(folder: string): Promise<string> {
  const files = await readdir(folder);
  if (files.includes("config.json")) return folder;
  if (files.some(isGguf)) throw noGguf("localEngine from", folder);
  throw new WhetstoneError("checkpoint.missing", {
    where: "localEngine from",
    got: `${folder}, a folder without a config.json`,
    expected: "the folder of a model in safetensors",
    mend: "Name the folder that the model's files lie in.",
  });
}

/**
 * The model of a checkpoint, with its own tokenizer and conversation form.
 * @param contextTokens longest sequence that is asked for.
 * @throws WhetstoneError `context.tooLong` when the model allows less; and those of `readModel` and `fetchModel`.
 */
export async function openPublished(options: PublishedOptions, contextTokens: number): Promise<ModelFolder> {
  const model = await readModel(await folderOf(options), options.templateVariables);
  const { config } = model;
  if (contextTokens <= config.contextTokens) return { ...model, config: { ...config, contextTokens } };
  throw new WhetstoneError("context.tooLong", {
    where: `localEngine from ${options.from}`,
    got: `a wish for ${contextTokens} tokens`,
    expected: `at most the ${config.contextTokens} that the model was made for`,
    mend: "Limit the turns or the tokens of an episode, or choose a model with a longer context.",
  });
}
