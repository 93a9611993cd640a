/** Weights saved on a server: the data in a checkpoint's folder that opens them again. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeFlushed } from "../../common/files/files.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";
import type { Codec } from "../../core/model.ts";
import { reductions } from "./datum.ts";
import { findings as findingsShape } from "./probe.ts";
import { openSampler, type Sampler } from "./sampler.ts";
import { letGo, savedFile } from "./serverCheckpoints.ts";
import type { Session } from "./session.ts";
import { openTrainer, type Trainer } from "./trainer.ts";

/** What all models of one engine share. */
export interface TinkerParts {
  /** Opened by the first call. */
  readonly session: () => Promise<Session>;
  readonly url: string;
  readonly baseModel: string;
  readonly codec: Codec;
  /** Number of sampling sessions for each weight version. */
  readonly samplers: number;
  /** A unique checkpoint name, e.g. random. */
  readonly unique: () => string;
}

const savedShape = z.strictObject({
  format: z.literal(1),
  baseModel: z.string(),
  rank: z.int().positive(),
  seed: z.int(),
  /** Path of the weights on the server; null before the first step, since the seed recreates them. */
  path: z.string().nullable(),
  version: z.int().nonnegative(),
  contextTokens: z.int().positive(),
  reduction: z.enum(reductions).default("sum"),
  /** The server's behaviour, as probed when the run began. */
  findings: findingsShape.optional(),
});
export type Saved = z.infer<typeof savedShape>;
export type Begun = Omit<Saved, "format" | "baseModel">;

/** @throws WhetstoneError `checkpoint.damaged`. */
export async function readSaved(folder: string, { baseModel }: TinkerParts): Promise<Saved> {
  const file = join(folder, savedFile);
  const damaged = (got: string, cause?: unknown): WhetstoneError =>
    new WhetstoneError("checkpoint.damaged", {
      where: file,
      got,
      expected: `a checkpoint of the tinker engine for ${baseModel}`,
      fix: "Resume from an earlier checkpoint, with the base model that it began with.",
      cause,
    });
  let saved: Saved;
  try {
    saved = savedShape.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (e) {
    throw damaged(messageOf(e).slice(0, 300), e);
  }
  if (saved.baseModel !== baseModel) throw damaged(`one for ${saved.baseModel}`);
  return saved;
}

/** A model with the weights of a path, or new ones. */
export async function begin(
  parts: TinkerParts,
  { seed, rank, path }: Pick<Begun, "seed" | "rank" | "path">,
  optimiser: boolean,
): Promise<Trainer> {
  const { baseModel } = parts;
  const trainer = await openTrainer(await parts.session(), { baseModel, rank, seed });
  // a server accepts this only as a model's first operation
  if (path !== null) await trainer.load(path, optimiser);
  return trainer;
}

/** Sampling sessions with the current weights of a model. */
export async function openSamplers(
  trainer: Trainer,
  { session, samplers, codec }: TinkerParts,
): Promise<Sampler[]> {
  const ids = await Promise.all(Array.from({ length: samplers }, () => trainer.sampler()));
  const open = await session();
  return ids.map((id) => openSampler(open, id, codec));
}

/** Deletes temporary checkpoints. */
export async function forget({ session }: TinkerParts, { path }: Pick<Saved, "path">): Promise<void> {
  if (path !== null) await letGo((await session()).over, path);
}

export const writeSaved = (folder: string, saved: Saved): Promise<void> =>
  writeFlushed(join(folder, savedFile), `${JSON.stringify(saved, null, 1)}\n`);
