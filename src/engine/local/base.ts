/** The frozen base of an adapter: checkpoints of a run say where it is, and do not copy it. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { WhetstoneError } from "../../core/errors.ts";
import type { DecoderConfig } from "./config.ts";
import { folderOf, type PublishedOptions } from "./locate.ts";
import { parametersOf, type Weights } from "./parameters.ts";

export const baseShape = z.object({
  /** The folder or GGUF file, absolute. */
  path: z.string(),
  /** The id on the Hub that it came from; asked where the path is gone. */
  id: z.string().optional(),
  revision: z.string().optional(),
  /** Of a sample of its values. */
  digest: z.string(),
});
/** Where a base is, and how to tell that it is the same. */
export type BaseModel = z.infer<typeof baseShape>;

/** Values of each tensor that the digest sees, spread evenly. */
const sampled = 1024;

/** Tells different weights apart, and the same weights of a file and of a folder alike. */
function digestOf(config: DecoderConfig, weights: Weights): string {
  const hash = createHash("sha256");
  for (const { name } of parametersOf(config)) {
    const values = weights.get(name)!;
    const step = Math.max(1, Math.floor(values.length / sampled));
    const some = Float32Array.from({ length: Math.min(sampled, values.length) }, (_, i) => values[i * step]!);
    hash.update(`${name} ${values.length}\n`).update(new Uint8Array(some.buffer));
  }
  return hash.digest("hex");
}

/** The base that a model was made from. @param weights as they were read there. */
export async function baseOf(
  options: PublishedOptions,
  config: DecoderConfig,
  weights: Weights,
): Promise<BaseModel> {
  const path = resolve(await folderOf(options));
  const isId = (await stat(options.from).catch(() => undefined)) === undefined;
  return {
    path,
    ...(isId && { id: options.from }),
    ...(isId && options.hub?.revision !== undefined && { revision: options.hub.revision }),
    digest: digestOf(config, weights),
  };
}

/**
 * The weights of a base.
 * @param folder of the checkpoint that needs it. @param read reads weights with the adapter beside them merged in, where there is one.
 * @throws WhetstoneError `checkpoint.missing` when it is gone; `checkpoint.damaged` when it is another model now.
 */
export async function readBase(
  folder: string,
  base: BaseModel,
  config: DecoderConfig,
  read: (from: string) => Promise<Weights>,
): Promise<Weights> {
  const { path, id, revision } = base;
  const there = await stat(path).catch(() => undefined);
  if (!there && id === undefined) {
    throw new WhetstoneError("checkpoint.missing", {
      where: folder,
      got: `an adapter whose base model ${path} is not there any more`,
      expected: "the model that the adapter was trained on",
      fix: `Put it back there, or write its new place into ${folder}/trainer.json.`,
    });
  }
  const from = there
    ? path
    : await folderOf({ from: id!, ...(revision !== undefined && { hub: { revision } }) });
  const weights = await read(from);
  const complete = parametersOf(config).every(({ name }) => weights.has(name));
  if (complete && digestOf(config, weights) === base.digest) return weights;
  throw new WhetstoneError("checkpoint.damaged", {
    where: folder,
    got: `a base model in ${from} with other weights than when the adapter was trained`,
    expected: "the same weights",
    fix: "Put the original model back there.",
  });
}
