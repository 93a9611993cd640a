/** A tabular model as one JSON file. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFlushed } from "../../common/files/files.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import { wordCodec } from "./codec.ts";
import type { Reading } from "./reading.ts";
import type { Table } from "./table.ts";
import { type Features, newWeights, type Prior, type Weights, weightsName } from "./weights.ts";

/** Contents of a checkpoint. */
export interface Contents {
  readonly weights: Weights;
  readonly contextTokens: number;
  readonly steps: number;
}

const fileName = "tabular.json";

/** Saved arrays: the weights, and AdamW's moments if they exist. Gradients are not saved. */
const savedArrays = [weightsName, "m", "v"] as const;

const numbers = z.array(z.number());
const savedShape = z.strictObject({
  format: z.literal(1),
  words: z.array(z.string()),
  /** null: the whole prefix. */
  context: z.union([z.number(), z.literal("message")]).nullable(),
  contextTokens: z.int().positive(),
  steps: z.int().nonnegative(),
  parts: z.record(
    z.string().regex(/^(logits$|head\.)/),
    z.strictObject({
      contexts: z.array(z.string()),
      arrays: z.strictObject({ [weightsName]: numbers, m: numbers.optional(), v: numbers.optional() }),
    }),
  ),
});
type Saved = z.infer<typeof savedShape>;

export function damaged(file: string, got: string, cause?: unknown): WhetstoneError {
  return new WhetstoneError("checkpoint.damaged", {
    where: file,
    got,
    expected: "a whole checkpoint of the tabular engine",
    fix: "Resume from an earlier checkpoint.",
    cause,
  });
}

/** The file of a checkpoint's folder. */
export const checkpointFile = (folder: string): string => join(folder, fileName);

/** @throws WhetstoneError `disk.write` or `folder.unwritable`. */
export async function writeCheckpoint(folder: string, contents: Contents): Promise<void> {
  const { weights, contextTokens, steps } = contents;
  const parts = [...weights.parts].map(([name, table]): [string, Saved["parts"][string]] => {
    const known = new Set(table.names());
    const kept = savedArrays
      .filter((array) => array === weightsName || known.has(array))
      .map((array) => [array, [...table.array(array)]]);
    return [name, { contexts: [...table.rows.keys()], arrays: Object.fromEntries(kept) }];
  });
  const saved: Saved = {
    format: 1,
    words: [...weights.codec.words],
    context: weights.context === Number.POSITIVE_INFINITY ? null : weights.context,
    contextTokens,
    steps,
    parts: Object.fromEntries(parts),
  };
  await writeFlushed(checkpointFile(folder), JSON.stringify(saved));
}

async function readSaved(file: string): Promise<Saved> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw damaged(file, messageOf(cause), cause);
  }
  const parsed = savedShape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue && issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  throw damaged(file, `${at}${issue?.message ?? "other fields"}`, parsed.error);
}

function tableOf(file: string, name: string, part: Saved["parts"][string], table: Table): void {
  const { width } = table;
  for (const context of part.contexts) table.row(context);
  if (table.rows.size !== part.contexts.length) throw damaged(file, `${name} with a duplicate context`);
  const length = table.rows.size * width;
  for (const array of savedArrays) {
    const values = part.arrays[array];
    if (!values) continue;
    if (values.length !== length) {
      throw damaged(file, `${name}.${array} of ${values.length} numbers instead of ${length}`);
    }
    table.array(array).set(values);
  }
}

/**
 * Reads what {@link writeCheckpoint} wrote. @param prior for contexts that were never seen. It, `reading` and `features`
 *   are not in the file.
 * @throws WhetstoneError `checkpoint.damaged`.
 */
export async function readCheckpoint(
  folder: string,
  prior?: Prior,
  reading?: Reading,
  features?: Features,
): Promise<Contents> {
  const file = checkpointFile(folder);
  const { words, context, contextTokens, steps, parts } = await readSaved(file);
  if (new Set(words).size !== words.length) throw damaged(file, "a duplicate word");
  const weights = newWeights(
    wordCodec(words),
    context ?? Number.POSITIVE_INFINITY,
    prior,
    new Map(),
    reading,
    features,
  );
  for (const [name, part] of Object.entries(parts)) tableOf(file, name, part, weights.part(name));
  return { weights, contextTokens, steps };
}
