/** Models that begin from a checkpoint: a folder, or a model on the Hugging Face Hub. */
import { stat } from "node:fs/promises";
import { WhetstoneError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { type ModelFolder, readModel } from "./checkpoint.ts";
import { type FetchOptions, fetchModel, isHubId } from "./hub.ts";

export interface PublishedOptions {
  /** A folder, or an id on the Hub as `owner/name`. A folder of that name goes first. */
  readonly from: string;
  /** How it is fetched from the Hub. */
  readonly hub?: FetchOptions;
  /** What its chat template may ask for besides the messages, e.g. `{ enable_thinking: false }`. */
  readonly templateVariables?: Readonly<Record<string, Json>>;
}

/** Where the model lies, fetched if need be. @throws WhetstoneError `checkpoint.missing`; and those of `fetchModel`. */
export async function folderOf({ from, hub }: PublishedOptions): Promise<string> {
  const there = await stat(from).then(
    (s) => s.isDirectory(),
    () => false,
  );
  if (there) return from;
  if (isHubId(from)) return fetchModel(from, hub);
  throw new WhetstoneError("checkpoint.missing", {
    where: "localEngine from",
    got: `${JSON.stringify(from)}, which is no folder`,
    expected: "a checkpoint's folder, or the id of a model on the Hugging Face Hub",
    mend: "Check the path.",
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
