/** Models that start from a checkpoint: a folder, a GGUF file, or a model on the Hugging Face Hub. */
import { WhetstoneError } from "../../core/errors.ts";
import { readModel } from "./checkpoint.ts";
import type { ModelFolder } from "./folder.ts";
import { folderOf, type PublishedOptions } from "./locate.ts";

/**
 * The model of a checkpoint, with its own tokenizer and chat template.
 * @param contextTokens the longest sequence requested.
 * @throws WhetstoneError `context.tooLong` when the model allows less; and the errors of `readModel` and `fetchModel`.
 */
export async function openPublished(options: PublishedOptions, contextTokens: number): Promise<ModelFolder> {
  const model = await readModel(await folderOf(options), options.templateVariables);
  const { config } = model;
  if (contextTokens <= config.contextTokens) return { ...model, config: { ...config, contextTokens } };
  throw new WhetstoneError("context.tooLong", {
    where: `pretrained model ${options.from}`,
    got: `a request for ${contextTokens} tokens`,
    expected: `at most the model's ${config.contextTokens}`,
    fix: "Limit the turns or the tokens of an episode, or choose a model with a longer context.",
  });
}
