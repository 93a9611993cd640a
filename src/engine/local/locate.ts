/** Where a pretrained model lies: a folder, a GGUF file, or the Hugging Face Hub. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { isGguf } from "./gguf/model.ts";
import { type FetchOptions, fetchModel, isHubId } from "./hub.ts";

export interface PublishedOptions {
  /** A folder, a GGUF file, or a Hub id as `owner/name`. An existing folder of that name takes precedence. */
  readonly from: string;
  /** Download options. */
  readonly hub?: FetchOptions;
  /**
   * Variables for its chat template besides the messages, e.g. `{ enable_thinking: false }`. `{ tools_in_text: true }` writes tools,
   * calls and results into the text of the messages, for a template that has no place for them.
   */
  readonly templateVariables?: Readonly<Record<string, Json>>;
}

/**
 * The folder or GGUF file of the model, downloaded if necessary.
 * @throws WhetstoneError `checkpoint.missing`; and those of `fetchModel`.
 */
export async function folderOf({ from, hub }: PublishedOptions): Promise<string> {
  const there = await stat(from).catch(() => undefined);
  if (there?.isDirectory()) return await modelFolder(from);
  if (there && isGguf(from)) return from;
  if (there === undefined && isHubId(from) && !isGguf(from)) return fetchModel(from, hub);
  throw new WhetstoneError("checkpoint.missing", {
    where: "pretrained model",
    got: `${JSON.stringify(from)}, which is ${there ? "a file" : isGguf(from) ? "not there" : "not a folder"}`,
    expected: "a checkpoint's folder, a GGUF file, or the id of a model on the Hugging Face Hub",
    fix: there ? "Name the folder of the file." : "Check the path.",
  });
}

async function modelFolder(folder: string): Promise<string> {
  const files = await readdir(folder);
  if (files.includes("config.json")) return folder;
  const inside = files.filter(isGguf);
  if (inside.length === 1) return join(folder, inside[0]!);
  throw new WhetstoneError("checkpoint.missing", {
    where: "pretrained model",
    got:
      inside.length > 1
        ? `${folder}, a folder with ${inside.length} GGUF files`
        : `${folder}, a folder without a config.json`,
    expected: "the folder of a model in safetensors, or a GGUF file",
    fix: inside.length > 1 ? "Name one of the files." : "Name the folder that the model's files are in.",
  });
}
