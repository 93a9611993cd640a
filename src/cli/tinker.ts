/** What `--engine tinker` is told: a server, what it is to train, and how that reads text. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { WhetstoneError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import type { AdapterOf } from "../engine/local/export.ts";
import type { Reduction } from "../engine/tinker/datum.ts";
import { keyIn } from "./keyEnv.ts";

/** A server that trains, as the command line or a config file states it. */
export interface TrainingServer {
  readonly url?: string | undefined;
  readonly baseModel?: string | undefined;
  /** A folder. */
  readonly tokenizer?: string | undefined;
  /** Name of the environment variable that holds the key. */
  readonly keyEnv?: string | undefined;
  /** What the server makes of the losses of several tokens. */
  readonly reduction?: Reduction | undefined;
  /** Sampling sessions of each version of the weights. */
  readonly samplers?: number | undefined;
}

export const trainingServerKeys = [
  "url",
  "baseModel",
  "tokenizer",
  "keyEnv",
  "reduction",
  "samplers",
] as const;

/** What of it is stated, and nothing else. */
export function statedServer({ url, baseModel, tokenizer, keyEnv, reduction, samplers }: TrainingServer) {
  return {
    ...(url !== undefined && { url }),
    ...(baseModel !== undefined && { baseModel }),
    ...(tokenizer !== undefined && { tokenizer }),
    ...(keyEnv !== undefined && { keyEnv }),
    ...(reduction && { reduction }),
    ...(samplers !== undefined && { samplers }),
  };
}

/** Where the official client finds its key. */
const usualKey = "TINKER_API_KEY";

/**
 * Weights as the local engine reads them. Those of a server's model are downloaded into a folder that is gone afterwards.
 * @param folder of a checkpoint. @param server where the run was. @param base the folder of the base model, where a server hands out
 * its adapters alone. Default: the tokenizer's, if the model is there as well.
 * @throws WhetstoneError `checkpoint.missing` where nothing was learnt, or no server or base model is known; `engine.failed`.
 */
export async function withWeights<T>(
  folder: string,
  { url, keyEnv, tokenizer }: TrainingServer,
  base: string | undefined,
  use: (from: string | AdapterOf) => Promise<T>,
): Promise<T> {
  const file = join(folder, "tinker.json");
  if (!existsSync(file)) return await use(folder);
  const { path, ...rest } = kept.parse(JSON.parse(readFileSync(file, "utf8")));
  if (url === undefined || path === null) {
    throw new WhetstoneError("checkpoint.missing", {
      where: file,
      got:
        path === null
          ? "a model before its first step"
          : "weights on a server, without a run that names the server",
      expected: "a checkpoint of a run on a server of the Tinker API",
      fix: path === null ? "Choose a later checkpoint." : "Name the run's folder, or the checkpoint in it.",
    });
  }
  const { downloadWeights } = await import("../engine/tinker/download.ts");
  const key = keyIn(keyEnv, usualKey);
  const aside = mkdtempSync(join(tmpdir(), "whetstone-weights-"));
  const slow = setTimeout(() => toPeople(`Downloading ${path} from ${url} …`), 2000);
  try {
    const over = { url, ...(key !== undefined && { key }), patienceSeconds: 600, say: toPeople };
    const came = await downloadWeights(over, { path, ...rest }, aside).finally(() => clearTimeout(slow));
    if (came.kind === "checkpoint") return await use(came.folder);
    const model = [base, tokenizer].find((at) => at !== undefined && existsSync(join(at, "config.json")));
    if (model !== undefined) return await use({ adapter: came.folder, base: model });
    throw new WhetstoneError("checkpoint.missing", {
      where: "--base",
      got: `${base ?? "nothing"}, and an adapter of ${rest.baseModel} from ${url}`,
      expected: "the folder of the base model, into which the adapter is merged",
      fix: "Name it with --base models/NAME.",
    });
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}
const kept = z.object({
  path: z.string().nullable(),
  baseModel: z.string(),
  rank: z.number(),
  seed: z.number(),
});

const toPeople = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * @param rank of the adapter.
 * @param say takes lines about the server. Default: standard error.
 * @throws WhetstoneError `option.range` where something is missing, and what reading the tokenizer throws.
 */
export async function serverEngine(
  { url, baseModel, tokenizer, keyEnv, reduction, samplers }: TrainingServer,
  rank?: number,
  say: (line: string) => void = toPeople,
): Promise<Engine> {
  if (url === undefined || baseModel === undefined || tokenizer === undefined) {
    const missing = Object.entries({ "--url": url, "--base-model": baseModel, "--tokenizer": tokenizer });
    throw new WhetstoneError("option.range", {
      where: "--engine tinker",
      got: `no ${missing.flatMap(([flag, value]) => (value === undefined ? [flag] : [])).join(", no ")}`,
      expected:
        "the address of a server, the name of one of its models, and the folder of that model's tokenizer",
      fix: "For example: whetstone train --engine tinker --url http://127.0.0.1:8000 --base-model tiny --tokenizer models/tiny.",
    });
  }
  if (!existsSync(join(tokenizer, "tokenizer.json"))) {
    throw new WhetstoneError("option.range", {
      where: "--tokenizer",
      got: `${tokenizer}, which has no tokenizer.json`,
      expected: "a folder with the tokenizer.json and tokenizer_config.json of --base-model",
      fix: "Name the model's folder; for whetstone serve --tinker without --model it is tinker/bases/tiny.",
    });
  }
  const key = keyIn(keyEnv, usualKey);
  const { readCodec } = await import("../engine/local/readCodec.ts");
  const { tinkerEngine } = await import("../engine/tinker/index.ts");
  return tinkerEngine({
    url,
    baseModel,
    codec: await readCodec(tokenizer),
    ...(key !== undefined && { key }),
    ...(rank !== undefined && { rank }),
    ...(reduction && { reduction }),
    ...(samplers !== undefined && { samplers }),
    say,
  });
}
