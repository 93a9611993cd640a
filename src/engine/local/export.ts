/** Trained weights as other tools take them. */
import { WhetstoneError } from "../../core/errors.ts";
import { readCheckpoint, writeModel } from "./checkpoint.ts";
import { mergeAdapter, writePeft } from "./peft.ts";

/**
 * Writes the adapter of a checkpoint for PEFT, and for servers that load PEFT's adapters.
 * @param to an existing folder. @param base what the adapter's config names as its model: a folder or a Hub id.
 * @throws WhetstoneError `checkpoint.damaged`; `capability.missing` when the model was trained without an adapter.
 */
export async function exportAdapter(checkpoint: string, to: string, base: string): Promise<void> {
  const { architecture, contents } = await readCheckpoint(checkpoint);
  const { config, adapter } = architecture;
  if (!adapter) {
    throw new WhetstoneError("capability.missing", {
      where: checkpoint,
      got: "a model without an adapter: all of its weights were trained",
      expected: "a model made with `lora`",
      mend: "Export its weights as safetensors instead.",
    });
  }
  await writePeft(to, config, adapter, contents.weights, base);
}

/**
 * Writes a checkpoint's model with its adapter merged in: a plain Hugging Face folder.
 * @param to an existing folder. @param type of the numbers on disk.
 * @throws WhetstoneError `checkpoint.damaged`, `disk.write`.
 */
export async function exportWeights(
  checkpoint: string,
  to: string,
  type: "F32" | "BF16" = "F32",
): Promise<void> {
  const { architecture, tokenizer, contents } = await readCheckpoint(checkpoint);
  const { config, adapter } = architecture;
  const weights = adapter ? mergeAdapter(contents.weights, adapter, contents.weights) : contents.weights;
  await writeModel(to, { config, tokenizer, weights }, type);
}
